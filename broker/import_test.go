package broker

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOnlyOneRoomImportsEachLibrary reads the imports of the whole program. Tests and the benchmarks of peers may use
// the libraries as somebody else.
func TestOnlyOneRoomImportsEachLibrary(t *testing.T) {
	const library = "github.com/eclipse/paho"
	rooms := map[string]string{"broker": library + ".golang/", "mqtt3": library + ".mqtt.golang"}
	here := map[string]int{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "bench" || name == "node_modules" || name == "testdata" || (strings.HasPrefix(name, ".") && name != "..")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		room := filepath.Base(filepath.Dir(path))
		for _, i := range file.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			switch {
			case rooms[room] != "" && strings.HasPrefix(p, rooms[room]):
				here[room]++
			case strings.HasPrefix(p, library):
				t.Errorf("%s imports %s", path, p)
			case room == "broker" && strings.HasPrefix(p, "retainscope/") && p != "retainscope/inventory" && p != "retainscope/expiry" && p != "retainscope/actions":
				t.Errorf("%s imports %s", path, p)
			case room == "broker" && strings.HasPrefix(p, "charm.land/"):
				t.Errorf("%s imports %s", path, p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room := range rooms {
		if here[room] == 0 {
			t.Errorf("%s does not import its library: the test looks in the wrong place", room)
		}
	}
}
