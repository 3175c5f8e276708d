package fatoura;

/** What is shown once. It is not printed with the object that has it. */
public record Secret(String value) {
  @Override
  public String toString() {
    return "[secret]";
  }
}
