import java.io.FileInputStream;
import java.util.Map;
import java.util.TreeMap;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.PDFAValidator;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;
import org.verapdf.pdfa.results.ValidationResult;

/**
 * Validates files with veraPDF. Arguments: FLAVOUR FILE…. Prints a line `compliant FILE` or `broken FILE` for each
 * file, followed by a line for each broken rule.
 */
public class ValidatePdf {
  public static void main(String[] arguments) throws Exception {
    VeraGreenfieldFoundryProvider.initialise();
    PDFAFlavour flavour = PDFAFlavour.byFlavourId(arguments[0]);
    for (int i = 1; i < arguments.length; i++) {
      try (PDFAParser parser =
          Foundries.defaultInstance().createParser(new FileInputStream(arguments[i]), flavour)) {
        PDFAValidator validator =
            Foundries.defaultInstance().createValidator(flavour, 20, false, false, false);
        ValidationResult result = validator.validate(parser);
        System.out.println((result.isCompliant() ? "compliant " : "broken ") + arguments[i]);
        Map<String, String> broken = new TreeMap<>();
        for (TestAssertion assertion : result.getTestAssertions()) {
          if (assertion.getStatus() == TestAssertion.Status.PASSED) continue;
          String rule = assertion.getRuleId().getClause() + "-" + assertion.getRuleId().getTestNumber();
          broken.putIfAbsent(rule, assertion.getMessage() + " @ " + assertion.getLocation().getContext());
        }
        broken.forEach((rule, what) -> System.out.println("  " + rule + " " + what));
      }
    }
  }
}
