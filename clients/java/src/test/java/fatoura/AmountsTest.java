package fatoura;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import fatoura.Models.LineInput;
import fatoura.Models.TaxTotal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AmountsTest {
  @Test
  void centimesAreReadExactly() {
    Map.of("1234.5", 123450L, "0.1", 10L, "-0.05", -5L, " 12 ", 1200L, "90071992547409.91", 9007199254740991L)
        .forEach((text, centimes) -> assertEquals(centimes, Amounts.centimes(text), text));
    for (String text : List.of("", "1,5", "1.234", "1e3", "1 000", ".5", "5.", "+1", "١", "90071992547409.92"))
      assertThrows(IllegalArgumentException.class, () -> Amounts.centimes(text), text);
  }

  @Test
  void centimesAreWrittenInDirhams() {
    Map.of(123450L, "1234.50", 5L, "0.05", -5L, "-0.05", 0L, "0.00", Long.MIN_VALUE, "-92233720368547758.08")
        .forEach((centimes, text) -> assertEquals(text, Amounts.dirhams(centimes)));
  }

  @Test
  void totalsRoundTheVatOfEachRateOnce() {
    var totals =
        Amounts.totals(
            List.of(
                LineInput.of("a", 3, 33),
                LineInput.of("b", 1, 50).withTaxRate(7),
                LineInput.of("c", 1, 1000).withTaxRate(0),
                LineInput.of("d", 1, 4)));
    // 20 % of 103 is 20.6, 7 % of 50 is 3.5.
    assertEquals(
        List.of(new TaxTotal(20, 103, 21), new TaxTotal(7, 50, 4), new TaxTotal(0, 1000, 0)), totals.taxTotals());
    assertEquals(List.of(1153L, 25L, 1178L), List.of(totals.subtotal(), totals.taxTotal(), totals.total()));
  }

  @Test
  void totalsBeyondTheServiceAreAnError() {
    var lines = List.of(LineInput.of("a", 1L << 40, 1L << 40));
    assertThrows(ArithmeticException.class, () -> Amounts.totals(lines));
  }
}
