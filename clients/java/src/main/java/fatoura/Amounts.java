package fatoura;

import fatoura.Models.InvoiceTotals;
import fatoura.Models.LineInput;
import fatoura.Models.TaxTotal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Amounts in centimes. */
public final class Amounts {
  private static final Pattern DIRHAMS = Pattern.compile("(-?)([0-9]{1,14})(?:\\.([0-9]{1,2}))?");
  private static final long DEFAULT_RATE = 20;

  /** The largest amount of the service. */
  private static final BigInteger MOST = BigInteger.valueOf((1L << 53) - 1);

  private Amounts() {}

  /**
   * Reads an amount in dirhams as centimes: {@code "1234.5"} → 123450. Texts, because a number such as 0.1 is not
   * exact.
   *
   * @throws IllegalArgumentException for what is not an amount with at most two decimals, in plain digits with a point
   */
  public static long centimes(String dirhams) {
    Matcher parts = DIRHAMS.matcher(dirhams.trim());
    if (!parts.matches())
      throw new IllegalArgumentException(
          "'" + dirhams + "' is not an amount in dirhams with at most two decimals, such as '1234.50'.");
    String decimals = parts.group(3) == null ? "" : parts.group(3);
    return Long.parseLong(parts.group(1) + parts.group(2) + (decimals + "00").substring(0, 2));
  }

  /** Writes centimes in dirhams: 123450 → {@code "1234.50"}. */
  public static String dirhams(long centimes) {
    String digits = String.format("%03d", Math.abs(centimes));
    int point = digits.length() - 2;
    return (centimes < 0 ? "-" : "") + digits.substring(0, point) + "." + digits.substring(point);
  }

  /**
   * Computes the totals of lines as the service does: VAT once for each rate, rounded half up, the highest rate first.
   * {@code total} is what an invoice of these lines states as its {@code amount}.
   *
   * @throws ArithmeticException for more than the service takes
   */
  public static InvoiceTotals totals(List<LineInput> lines) {
    Map<Long, BigInteger> bases = new TreeMap<>(Comparator.reverseOrder());
    for (LineInput line : lines) {
      BigInteger net = BigInteger.valueOf(line.quantity()).multiply(BigInteger.valueOf(line.unitPrice()));
      bases.merge(line.taxRate() == null ? DEFAULT_RATE : line.taxRate(), net, BigInteger::add);
    }
    List<TaxTotal> rates = new ArrayList<>();
    bases.forEach((rate, base) -> rates.add(taxOf(rate, base)));
    long subtotal = rates.stream().mapToLong(TaxTotal::base).sum();
    long tax = rates.stream().mapToLong(TaxTotal::tax).sum();
    return new InvoiceTotals(subtotal, tax, rates, subtotal + tax, null, null, null, null);
  }

  private static TaxTotal taxOf(long rate, BigInteger base) {
    if (base.compareTo(MOST) > 0) throw new ArithmeticException("the lines are more than the service takes");
    // 100 times the largest amount is below the largest long.
    long exact = base.longValueExact();
    return new TaxTotal(rate, exact, (exact * rate + 50) / 100);
  }
}
