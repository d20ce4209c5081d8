package cli

// What commands take behind their names, and what they refuse.

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// none refuses arguments.
func none(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage(fmt.Errorf("%s; %s is too much", what, quote(args[0])))
		}
		return nil
	}
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usage(fmt.Errorf("%s; %s is too much", what, quote(args[1])))
		}
		return nil
	}
}

// oneOperation takes exactly one argument, and no filter.
func (p *program) oneOperation(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage(errors.New(what))
		}
		return p.noMore(what)(cmd, args[1:])
	}
}

// noMore refuses arguments and filters where one exact topic, or one operation, is everything that is taken.
func (p *program) noMore(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage(fmt.Errorf("%s; %s is too much", what, quote(args[0])))
		}
		return p.noFilters(what)
	}
}

func (p *program) noFilters(what string) error {
	for _, id := range []string{"scan.filters", "scan.extra_filters"} {
		if f := p.given[id]; f != nil && len(f.texts) > 0 {
			return usage(fmt.Errorf("%s; a filter is not taken", what))
		}
	}
	return nil
}
