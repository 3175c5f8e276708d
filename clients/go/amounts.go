package fatoura

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var dirhamsPattern = regexp.MustCompile(`^(-?)(\d{1,14})(?:\.(\d{1,2}))?$`)

// Centimes reads an amount in dirhams as centimes: "1234.5" → 123450. It takes a text, because a number such as 0.1 is
// not exact. It has at most two decimals, in plain digits with a point, and is not more than the service takes.
func Centimes(dirhams string) (int64, error) {
	parts := dirhamsPattern.FindStringSubmatch(strings.TrimSpace(dirhams))
	if parts == nil {
		return 0, fmt.Errorf("%q is not an amount in dirhams with at most two decimals, such as \"1234.50\"", dirhams)
	}
	centimes, err := strconv.ParseInt(parts[1]+parts[2]+(parts[3] + "00")[:2], 10, 64)
	if err == nil && max(centimes, -centimes) > mostCentimes {
		return 0, fmt.Errorf("%d centimes are more than the service takes", centimes)
	}
	return centimes, err
}

// Dirhams writes centimes in dirhams: 123450 → "1234.50".
func Dirhams(centimes int64) string {
	sign, digits := "", strconv.FormatInt(centimes, 10)
	if centimes < 0 {
		sign, digits = "-", digits[1:]
	}
	digits = strings.Repeat("0", max(0, 3-len(digits))) + digits
	return sign + digits[:len(digits)-2] + "." + digits[len(digits)-2:]
}

const defaultRate TaxRate = TaxRate20

// mostCentimes is the largest amount of the service.
const mostCentimes = 1<<53 - 1

// TotalsOf computes the totals of lines as the service does: VAT once for each rate, rounded half up, the highest rate
// first. Total is what an invoice of these lines states as its Amount. An error is of a negative quantity or price, or of
// more than the service takes.
func TotalsOf(lines []LineInput) (InvoiceTotals, error) {
	bases := map[TaxRate]*big.Int{}
	for _, line := range lines {
		rate := defaultRate
		if line.TaxRate != nil {
			rate = *line.TaxRate
		}
		if bases[rate] == nil {
			bases[rate] = new(big.Int)
		}
		if line.Quantity < 0 || line.UnitPrice < 0 {
			return InvoiceTotals{}, errors.New("the quantity and the unit price of a line must not be negative")
		}
		net := new(big.Int).Mul(big.NewInt(line.Quantity), big.NewInt(line.UnitPrice))
		bases[rate].Add(bases[rate], net)
	}
	var totals InvoiceTotals
	for _, rate := range slices.SortedFunc(maps.Keys(bases), func(a, b TaxRate) int { return cmp.Compare(b, a) }) {
		if bases[rate].CmpAbs(big.NewInt(mostCentimes)) > 0 {
			return InvoiceTotals{}, fmt.Errorf("the lines at %d %% are more than the service takes", rate)
		}
		base := bases[rate].Int64()
		// 100 times the largest amount is below the largest int64.
		tax := (base*int64(rate) + 50) / 100
		totals.TaxTotals = append(totals.TaxTotals, TaxTotal{Rate: int64(rate), Base: base, Tax: tax})
		totals.Subtotal += base
		totals.TaxTotal += tax
	}
	totals.Total = totals.Subtotal + totals.TaxTotal
	if totals.Total > mostCentimes {
		return InvoiceTotals{}, fmt.Errorf("%d centimes are more than the service takes", totals.Total)
	}
	return totals, nil
}
