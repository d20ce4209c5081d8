package expiry

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestThisRoomImportsTheStandardLibraryOnly(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		seen++
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			// Paths of the standard library have no dot in their first element, and this module is called retainscope.
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") || first == "retainscope" {
				t.Errorf("%s imports %s", f.Name(), path)
			}
		}
	}
	if seen < 5 {
		t.Fatalf("only %d files were looked at", seen)
	}
}
