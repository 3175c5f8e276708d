package fatoura;

import fatoura.Models.InvoiceTotals;
import fatoura.Models.LineInput;
import fatoura.Models.TaxTotal;
import java.math.BigDecimal;
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
  private static final long MOST = (1L << 53) - 1;

  private Amounts() {}

  /**
   * Reads an amount in dirhams as centimes: {@code "1234.5"} → 123450. Texts, because a number such as 0.1 is not
   * exact.
   *
   * @throws IllegalArgumentException for what is not an amount with at most two decimals, in plain digits with a point,
   *     or more than the service takes
   */
  public static long centimes(String dirhams) {
    Matcher parts = DIRHAMS.matcher(dirhams.trim());
    if (!parts.matches())
      throw new IllegalArgumentException(
          "'" + dirhams + "' is not an amount in dirhams with at most two decimals, such as '1234.50'.");
    String decimals = parts.group(3) == null ? "" : parts.group(3);
    long centimes = Long.parseLong(parts.group(1) + parts.group(2) + (decimals + "00").substring(0, 2));
    if (Math.abs(centimes) > MOST)
      throw new IllegalArgumentException(centimes + " centimes are more than the service takes.");
    return centimes;
  }

  /** Writes centimes in dirhams: 123450 → {@code "1234.50"}. */
  public static String dirhams(long centimes) {
    return BigDecimal.valueOf(centimes, 2).toPlainString();
  }

  /**
   * Computes the totals of lines as the service does: VAT once for each rate, rounded half up, the highest rate first.
   * {@code total} is what an invoice of these lines states as its {@code amount}.
   *
   * @throws ArithmeticException for more than the service takes
   * @throws IllegalArgumentException for a negative quantity or price
   */
  public static InvoiceTotals totals(List<LineInput> lines) {
    Map<Long, BigInteger> bases = new TreeMap<>(Comparator.reverseOrder());
    for (LineInput line : lines) {
      if (line.quantity() < 0 || line.unitPrice() < 0)
        throw new IllegalArgumentException("quantity and unitPrice must not be negative.");
      BigInteger net = BigInteger.valueOf(line.quantity()).multiply(BigInteger.valueOf(line.unitPrice()));
      bases.merge(line.taxRate() == null ? DEFAULT_RATE : line.taxRate(), net, BigInteger::add);
    }
    List<TaxTotal> rates = new ArrayList<>();
    bases.forEach((rate, base) -> rates.add(taxOf(rate, base)));
    long subtotal = rates.stream().mapToLong(TaxTotal::base).sum();
    long tax = rates.stream().mapToLong(TaxTotal::tax).sum();
    long total = exact(BigInteger.valueOf(subtotal + tax));
    return new InvoiceTotals(subtotal, tax, rates, total, null, null, null, null);
  }

  private static TaxTotal taxOf(long rate, BigInteger base) {
    // 100 times the largest amount is below the largest long.
    long exact = exact(base);
    return new TaxTotal(rate, exact, (exact * rate + 50) / 100);
  }

  private static long exact(BigInteger sum) {
    if (sum.abs().compareTo(BigInteger.valueOf(MOST)) > 0)
      throw new ArithmeticException(sum + " centimes are more than the service takes");
    return sum.longValueExact();
  }
}
