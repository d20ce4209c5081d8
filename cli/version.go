package cli

// What the program says of itself.

import (
	"runtime"
	"runtime/debug"
)

// version is set by the linker for a release; see the Makefile.
var version = ""

// Version returns the release, or what the build knows of the commit, followed by the toolchain and the machine.
func Version() string {
	v := version
	if v == "" {
		v = fromBuild(debug.ReadBuildInfo())
	}
	return v + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}

func fromBuild(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit == "" {
		return "dev"
	}
	return "dev-" + commit + dirty
}
