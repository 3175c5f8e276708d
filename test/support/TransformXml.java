import java.io.File;
import java.io.StringWriter;
import javax.xml.transform.stream.StreamSource;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.Serializer;
import net.sf.saxon.s9api.Xslt30Transformer;
import net.sf.saxon.s9api.XsltExecutable;

/**
 * Transforms files with Saxon. Arguments: STYLESHEET FILE…. Prints a line `FILE RESULT` for each file. A result with
 * line ends is an error.
 */
public class TransformXml {
  public static void main(String[] arguments) throws Exception {
    Processor processor = new Processor(false);
    XsltExecutable stylesheet = processor.newXsltCompiler().compile(new StreamSource(new File(arguments[0])));
    for (int i = 1; i < arguments.length; i++) {
      StringWriter result = new StringWriter();
      Serializer serializer = processor.newSerializer(result);
      serializer.setOutputProperty(Serializer.Property.OMIT_XML_DECLARATION, "yes");
      Xslt30Transformer transformer = stylesheet.load30();
      transformer.transform(new StreamSource(new File(arguments[i])), serializer);
      if (result.toString().contains("\n")) throw new IllegalStateException("a result has a line end");
      System.out.println(arguments[i] + " " + result);
    }
  }
}
