import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PublicKey;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import javax.xml.crypto.KeySelector;
import javax.xml.crypto.dsig.XMLSignature;
import javax.xml.crypto.dsig.XMLSignatureFactory;
import javax.xml.crypto.dsig.dom.DOMValidateContext;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Validates XML signatures with the JDK's own validator. Arguments: a PEM certificate, then folders of signed
 * documents. Prints "true NAME" or "false NAME" for each document, in the order of names.
 */
public class ValidateSignatures {
  public static void main(String[] arguments) throws Exception {
    byte[] pem = Files.readAllBytes(Path.of(arguments[0]));
    PublicKey key =
        CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(pem)).getPublicKey();
    for (String folder : Arrays.asList(arguments).subList(1, arguments.length)) {
      try (var files = Files.list(Path.of(folder))) {
        for (Path file : files.sorted().toList()) {
          System.out.println(isValid(file, key) + " " + file.getFileName());
        }
      }
    }
  }

  static boolean isValid(Path file, PublicKey key) {
    try {
      DocumentBuilderFactory parsers = DocumentBuilderFactory.newInstance();
      parsers.setNamespaceAware(true);
      parsers.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      var parser = parsers.newDocumentBuilder();
      parser.setErrorHandler(null);
      Document document = parser.parse(file.toFile());
      NodeList signatures = document.getElementsByTagNameNS(XMLSignature.XMLNS, "Signature");
      if (signatures.getLength() != 1) return false;
      NodeList properties = document.getElementsByTagNameNS("http://uri.etsi.org/01903/v1.3.2#", "SignedProperties");
      for (int i = 0; i < properties.getLength(); i++) {
        ((Element) properties.item(i)).setIdAttribute("Id", true);
      }
      var context = new DOMValidateContext(KeySelector.singletonKeySelector(key), signatures.item(0));
      return XMLSignatureFactory.getInstance("DOM").unmarshalXMLSignature(context).validate(context);
    } catch (Exception broken) {
      return false;
    }
  }
}
