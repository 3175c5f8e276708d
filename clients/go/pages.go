package fatoura

import (
	"iter"
	"slices"
)

// items reads a list page by page. A page is newest first in either direction; on the way back the oldest comes first.
func items(options ListOptions, read func(ListOptions) (*InvoiceList, error)) iter.Seq2[*Invoice, error] {
	return func(yield func(*Invoice, error) bool) {
		options := options
		isBack := options.EndingBefore != ""
		for {
			page, err := read(options)
			if err != nil {
				yield(nil, err)
				return
			}
			if isBack {
				slices.Reverse(page.Data)
			}
			for nth := range page.Data {
				if !yield(&page.Data[nth], nil) {
					return
				}
			}
			if !page.HasMore || len(page.Data) == 0 {
				return
			}
			last := page.Data[len(page.Data)-1].ID
			if isBack {
				options.EndingBefore = last
			} else {
				options.StartingAfter = last
			}
		}
	}
}
