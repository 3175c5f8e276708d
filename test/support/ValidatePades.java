import eu.europa.esig.dss.model.FileDocument;
import eu.europa.esig.dss.simplereport.SimpleReport;
import eu.europa.esig.dss.spi.DSSUtils;
import eu.europa.esig.dss.spi.validation.CommonCertificateVerifier;
import eu.europa.esig.dss.spi.x509.CommonTrustedCertificateSource;
import eu.europa.esig.dss.validation.SignedDocumentValidator;
import java.io.File;

/**
 * Validates signed files with DSS. Arguments: CERTIFICATE FILE…. Prints a line `FORMAT INDICATION FILE` for each
 * file, followed by its errors and warnings.
 */
public class ValidatePades {
  public static void main(String[] arguments) throws Exception {
    CommonTrustedCertificateSource trusted = new CommonTrustedCertificateSource();
    trusted.addCertificate(DSSUtils.loadCertificate(new File(arguments[0])));
    CommonCertificateVerifier verifier = new CommonCertificateVerifier();
    verifier.setTrustedCertSources(trusted);
    for (int i = 1; i < arguments.length; i++) {
      SignedDocumentValidator validator =
          SignedDocumentValidator.fromDocument(new FileDocument(arguments[i]));
      validator.setCertificateVerifier(verifier);
      SimpleReport report = validator.validateDocument().getSimpleReport();
      String id = report.getFirstSignatureId();
      System.out.println(report.getSignatureFormat(id) + " " + report.getIndication(id) + " " + arguments[i]);
      report.getAdESValidationErrors(id).forEach(each -> System.out.println("  error: " + each.getValue()));
      report.getAdESValidationWarnings(id).forEach(each -> System.out.println("  warning: " + each.getValue()));
    }
  }
}
