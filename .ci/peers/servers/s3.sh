# Versity's S3 gateway over a folder: any bucket, multipart, signatures checked. Its build takes 100 s of processor time, the longest here.
packages=(python3-venv)

install() {
  go_install github.com/versity/versitygw/cmd/versitygw@v1.8.0
}

start() {
  local plain
  plain=$(port plain)
  mkdir -p "$data"/{buckets,attributes}
  ROOT_ACCESS_KEY=temblor ROOT_SECRET_KEY=temblor-secret run versitygw --port "127.0.0.1:$plain" \
    posix --sidecar "$data/attributes" "$data/buckets"
  await listening "$plain"
  tell S3 "127.0.0.1:$plain"
  tell S3_ACCESS_KEY temblor
  tell S3_SECRET_KEY temblor-secret
}
