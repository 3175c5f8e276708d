package fatoura;

import fatoura.Models.Invoice;
import fatoura.Models.InvoiceList;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A list that is read page by page, when it is iterated: from the newest to the oldest, or with {@code endingBefore}
 * back to the newest. Each iteration reads anew.
 */
public final class Pages implements Iterable<Invoice> {
  private static final String BACK = "ending_before";
  private static final String ONWARD = "starting_after";

  private final Map<String, String> query;
  private final Function<Map<String, String>, InvoiceList> read;

  Pages(Map<String, String> query, Function<Map<String, String>, InvoiceList> read) {
    this.query = query;
    this.read = read;
  }

  /** Reads the first page only. */
  public InvoiceList page() {
    return read.apply(query);
  }

  public Stream<Invoice> stream() {
    return StreamSupport.stream(spliterator(), false);
  }

  @Override
  public Iterator<Invoice> iterator() {
    return new Items(new LinkedHashMap<>(query));
  }

  private final class Items implements Iterator<Invoice> {
    private final Map<String, String> next;
    private final boolean isBack;
    private final Deque<Invoice> items = new ArrayDeque<>();
    private boolean hasMore = true;

    Items(Map<String, String> first) {
      next = first;
      isBack = first.containsKey(BACK);
    }

    @Override
    public boolean hasNext() {
      if (items.isEmpty() && hasMore) readPage();
      return !items.isEmpty();
    }

    @Override
    public Invoice next() {
      if (!hasNext()) throw new NoSuchElementException();
      return items.remove();
    }

    private void readPage() {
      InvoiceList page = read.apply(next);
      List<Invoice> data = page.data();
      // A page is newest first in either direction. On the way back the oldest comes first.
      if (isBack) Collections.reverse(data);
      items.addAll(data);
      hasMore = page.hasMore() && !data.isEmpty();
      if (hasMore) next.put(isBack ? BACK : ONWARD, items.getLast().id());
    }
  }
}
