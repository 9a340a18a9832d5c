import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;

/** Makes Java trust what other programs trust. Arguments: a file of PEM certificates, the store to write. */
public final class TrustStore {
    public static void main(String[] arguments) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (var bundle = new FileInputStream(arguments[0])) {
            int number = 0;
            for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(bundle)) {
                store.setCertificateEntry("authority-" + number++, one);
            }
        }
        try (var written = new FileOutputStream(arguments[1])) {
            store.store(written, "changeit".toCharArray());
        }
    }
}
