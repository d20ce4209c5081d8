// Command shot turns a terminal screen, as tmux prints it with capture-pane -e, into an SVG picture.
//
// It stands beside the documentation because only the documentation needs it; nothing that ships imports it.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"image/color"
	"io"
	"os"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

const (
	cellW, cellH = 8.4, 18.0
	pad          = 12.0
	foreground   = "#d8dee9"
	background   = "#1c2128"
)

func main() {
	cols := flag.Int("cols", 120, "columns of the screen")
	rows := flag.Int("rows", 40, "rows of the screen")
	flag.Parse()
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "read the screen:", err)
		os.Exit(1)
	}
	if _, err := os.Stdout.WriteString(draw(in, *cols, *rows)); err != nil {
		os.Exit(1)
	}
}

// draw returns the SVG of a screen of cols by rows cells that holds the text in, with its SGR sequences.
func draw(in []byte, cols, rows int) string {
	em := vt.NewEmulator(cols, rows)
	go func() { _, _ = io.Copy(io.Discard, em) }() // the emulator blocks when nobody reads its answers
	in = bytes.TrimRight(in, "\n")
	_, _ = em.Write([]byte("\x1b[?7l"))
	_, _ = em.Write(bytes.ReplaceAll(in, []byte("\n"), []byte("\x1b[0m\r\n")))
	var s strings.Builder
	w, h := float64(cols)*cellW+2*pad, float64(rows)*cellH+2*pad
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", w, h, w, h)
	fmt.Fprintf(&s, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	fmt.Fprintf(&s, `<g font-family="JetBrains Mono, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">`+"\n")
	for y := range rows {
		row(&s, em, y, cols)
	}
	s.WriteString("</g>\n</svg>\n")
	return s.String()
}

// row writes the cells of one line as runs of equal style.
func row(s *strings.Builder, em *vt.Emulator, y, cols int) {
	for x := 0; x < cols; {
		c := em.CellAt(x, y)
		fg, bg, bold := look(c)
		start := x
		var text strings.Builder
		for x < cols {
			c = em.CellAt(x, y)
			f, b, bo := look(c)
			if f != fg || b != bg || bo != bold {
				break
			}
			step := 1
			if c == nil || c.Content == "" {
				text.WriteByte(' ')
			} else {
				text.WriteString(c.Content)
				step = max(c.Width, 1)
			}
			x += step
		}
		left, top := pad+float64(start)*cellW, pad+float64(y)*cellH
		if bg != background {
			fmt.Fprintf(s, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, top, float64(x-start)*cellW, cellH, bg)
		}
		if strings.TrimSpace(text.String()) == "" {
			continue
		}
		weight := ""
		if bold {
			weight = ` font-weight="bold"`
		}
		fmt.Fprintf(s, `<text x="%.1f" y="%.1f" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
			left, top+cellH-4.5, fg, weight, float64(x-start)*cellW, html.EscapeString(text.String()))
	}
}

// look returns the colours of a cell as they are seen, and whether it is bold.
func look(c *uv.Cell) (fg, bg string, bold bool) {
	fg, bg = foreground, background
	if c == nil {
		return
	}
	if c.Style.Fg != nil {
		fg = hex(c.Style.Fg)
	}
	if c.Style.Bg != nil {
		bg = hex(c.Style.Bg)
	}
	if c.Style.Attrs&uv.AttrReverse != 0 {
		fg, bg = bg, fg
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		fg = "#8b949e"
	}
	return fg, bg, c.Style.Attrs&uv.AttrBold != 0
}

// palette holds the sixteen colours as a dark terminal theme shows them; the emulator knows only their numbers.
var palette = [16]string{
	"#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
	"#7f8794", "#ff7b86", "#b5e890", "#ffd98a", "#82c4ff", "#dd9bf0", "#7fd8e0", "#ffffff",
}

func hex(c color.Color) string {
	if n, ok := c.(ansi.BasicColor); ok && int(n) < len(palette) {
		return palette[n]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
