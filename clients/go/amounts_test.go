package fatoura

import (
	"math"
	"reflect"
	"testing"
)

func TestCentimesAreReadExactly(t *testing.T) {
	for text, want := range map[string]int64{
		"1234.5": 123450, "0.1": 10, "-0.05": -5, " 12 ": 1200, "0.00": 0, "90071992547409.91": 9007199254740991,
	} {
		if got, err := Centimes(text); err != nil || got != want {
			t.Errorf("Centimes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1,5", "1.234", "1e3", "1 000", ".5", "5.", "+1", "90071992547409.92"} {
		if got, err := Centimes(text); err == nil {
			t.Errorf("Centimes(%q) = %d; want an error", text, got)
		}
	}
}

func TestCentimesAreWrittenInDirhams(t *testing.T) {
	for centimes, want := range map[int64]string{
		123450: "1234.50", 5: "0.05", -5: "-0.05", 0: "0.00", math.MinInt64: "-92233720368547758.08",
	} {
		if got := Dirhams(centimes); got != want {
			t.Errorf("Dirhams(%d) = %q; want %q", centimes, got, want)
		}
	}
}

func TestTotalsRoundTheVATOfEachRateOnce(t *testing.T) {
	totals, err := TotalsOf([]LineInput{
		{Quantity: 3, UnitPrice: 33},
		{Quantity: 1, UnitPrice: 50, TaxRate: Ptr(TaxRate7)},
		{Quantity: 1, UnitPrice: 1000, TaxRate: Ptr(TaxRate0)},
		{Quantity: 1, UnitPrice: 4},
	})
	// 20 % of 103 is 20.6, 7 % of 50 is 3.5.
	want := InvoiceTotals{Subtotal: 1153, TaxTotal: 25, Total: 1178, TaxTotals: []TaxTotal{
		{Rate: 20, Base: 103, Tax: 21}, {Rate: 7, Base: 50, Tax: 4}, {Rate: 0, Base: 1000, Tax: 0},
	}}
	if err != nil || !reflect.DeepEqual(totals, want) {
		t.Errorf("got %+v, %v; want %+v", totals, err, want)
	}
}

func TestTotalsBeyondTheServiceAreAnError(t *testing.T) {
	if totals, err := TotalsOf([]LineInput{{Quantity: 1 << 40, UnitPrice: 1 << 40}}); err == nil {
		t.Errorf("got %+v; want an error", totals)
	}
}
