package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// median returns the middle of v; v is sorted in place.
func median[T cmp.Ordered](v []T) T {
	var zero T
	if len(v) == 0 {
		return zero
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// table prints one row a subscriber: medians, and the median of the per-round ratios to the base.
func table(title, base string, names []string, runs map[string][]sample) {
	fmt.Fprintf(os.Stdout, "\n%s\n", title)
	w := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "subscriber\tstores?\twall s\tCPU s\tpeak MiB\twall x\tCPU x\tmin..max wall x\treceived\t")
	for _, name := range names {
		var wall, cpu, rss, wx, cx []float64
		var got []int
		for i, s := range runs[name] {
			b := runs[base][i]
			wall, cpu = append(wall, s.wall.Seconds()), append(cpu, s.cpu.Seconds())
			rss = append(rss, float64(s.rss)/(1<<20))
			wx, cx = append(wx, s.wall.Seconds()/b.wall.Seconds()), append(cx, s.cpu.Seconds()/b.cpu.Seconds())
			got = append(got, s.got)
		}
		if len(wall) == 0 {
			continue
		}
		received := "-"
		if g := slices.Max(got); g > 0 {
			received = fmt.Sprint(slices.Min(got))
			if slices.Min(got) != g {
				received += fmt.Sprintf("..%d", g)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.3f\t%.0f\t%.2f\t%.2f\t%.2f..%.2f\t%s\t\n", name, stores[name],
			median(wall), median(cpu), median(rss), median(wx), median(cx), slices.Min(wx), slices.Max(wx), received)
	}
	_ = w.Flush()
}

func machine() string {
	model := "?"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for l := range strings.SplitSeq(string(b), "\n") {
			if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == "model name" {
				model = strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %s", model, time.Now().Format("2006-01-02"))
}
