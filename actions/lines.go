package actions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// The lines of the record in order, as they stand in its files.

// eachLine calls f with every whole line of the record in order, and with what stands at the end of a segment and is
// none (hurt then tells of it, and there is no line: it may be of any size). The bytes are borrowed. It stops at the first error of f or of ctx.
func (d *Desk) eachLine(ctx context.Context, f func(segment int, line []byte, hurt *Damage) error) error {
	numbers, err := d.segments()
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	for _, n := range numbers {
		if err := d.eachLineOf(ctx, n, 0, func(fs.FileInfo) {}, f); err != nil {
			return err
		}
	}
	return nil
}

// eachLineOf is eachLine for one segment, from the line on that begins at an offset. which is told first which file it is.
func (d *Desk) eachLineOf(ctx context.Context, n int, from int64, which func(fs.FileInfo), f func(int, []byte, *Damage) error) (err error) {
	file, err := d.store.Open(d.segmentName(n))
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	which(info)
	size := info.Size()
	end, err := lastLineEnd(file, size)
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	r := bufio.NewReaderSize(io.NewSectionReader(file, from, max(end-from, 0)), 1<<20)
	var long []byte
	for i := 0; ; i++ {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
			long = long[:0]
		}
		if err == nil {
			if err := f(n, line[:len(line)-1], nil); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("read record: %w", err)
		}
		break
	}
	if end == size {
		return nil
	}
	hurt, err := damageOf(file, end, size)
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	return f(n, nil, &hurt)
}
