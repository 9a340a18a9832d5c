# Certificates for tests of TLS, in the folder TEMBLOR_PEER_CERTIFICATES, as PEM, each NAME.pem with its NAME.key:
# ca; server and client of that ca; expired and elsewhere (a name that is not this host) of that ca;
# other-ca, and stranger of the other ca. server-chain.pem is key and certificate in one file.
packages=(openssl)

# certificate CA NAME SUBJECT-ALTERNATIVE-NAMES [FROM TO]: the validity as YYMMDDHHMMSSZ.
certificate() {
  local ca=$1 cert=$2 names=$3 from=${4:-200101000000Z} to=${5:-491231235959Z}
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/O=Temblor/CN=$cert" \
    -keyout "$cert.key" -out "$cert.csr"
  printf '%s\n' 'basicConstraints=critical,CA:FALSE' "subjectAltName=$names" \
    'keyUsage=critical,digitalSignature' 'extendedKeyUsage=serverAuth,clientAuth' >"$cert.ext"
  : >index.txt
  openssl ca -batch -notext -config ca.conf -cert "$ca.pem" -keyfile "$ca.key" \
    -startdate "$from" -enddate "$to" -extfile "$cert.ext" -in "$cert.csr" -out "$cert.pem"
}

authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9000 -subj "/O=Temblor/CN=$1" \
    -addext 'keyUsage=critical,keyCertSign,cRLSign' -keyout "$1.key" -out "$1.pem"
}

start() {
  local here_too=DNS:localhost,IP:127.0.0.1,IP:::1
  mkdir -p "$data/files"
  cd "$data/files"
  if [ ! -e complete ]; then
    printf '%s\n' '[ca]' 'default_ca=own' '[own]' 'database=index.txt' 'new_certs_dir=.' 'rand_serial=yes' \
      'default_md=sha256' 'policy=any' '[any]' 'organizationName=optional' 'commonName=supplied' >ca.conf
    {
      authority ca
      authority other-ca
      certificate ca server "$here_too"
      certificate ca client DNS:client
      certificate ca expired "$here_too" 200101000000Z 210101000000Z
      certificate ca elsewhere DNS:elsewhere.example
      certificate other-ca stranger "$here_too"
    } >log 2>&1
    cat server.key server.pem >server-chain.pem
    # Servers that give up root must be able to read them; they protect nothing.
    chmod a+r ./*
    touch complete
  fi
  tell CERTIFICATES "$PWD"
}
