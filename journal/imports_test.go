package journal

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestThisRoomKnowsNoNetworkAndNoScreen(t *testing.T) {
	files, err := os.ReadDir(".")
	must(t, err)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		must(t, err)
		for _, i := range parsed.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			must(t, err)
			switch first, _, _ := strings.Cut(path, "/"); {
			case path == "retainscope/expiry", first == "modernc.org", first == "golang.org":
			case first == "retainscope" || strings.Contains(first, "."), path == "net", strings.HasPrefix(path, "net/") && path != "net/url":
				t.Errorf("%s imports %s", f.Name(), path)
			}
		}
	}
}
