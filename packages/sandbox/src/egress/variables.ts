/** Environment variables that tell programs the gate and its certificates. */

const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']

/** Variables of OpenSSL and its users, curl, git, Python, Node, and of tools with their own certificate lists. */
const bundles = [
  ...['SSL_CERT_FILE', 'NIX_SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'],
  ...['REQUESTS_CA_BUNDLE', 'PIP_CERT', 'NODE_EXTRA_CA_CERTS', 'NPM_CONFIG_CAFILE'],
  ...['YARN_HTTPS_CA_FILE_PATH', 'DENO_CERT', 'CARGO_HTTP_CAINFO', 'BUNDLE_SSL_CA_CERT'],
  ...['AWS_CA_BUNDLE', 'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE', 'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH'],
]

/** `proxy`: a URL. `certificates`: path of the PEM bundle. Both as commands see them. */
export function egressVariables(proxy: string, certificates: string): Record<string, string> {
  const names = proxies.flatMap((name) => [name, name.toLowerCase()])
  const own = 'localhost,127.0.0.1,::1'
  return {
    ...Object.fromEntries(names.map((name) => [name, proxy])),
    NO_PROXY: own,
    no_proxy: own,
    NODE_USE_ENV_PROXY: '1',
    ...Object.fromEntries(bundles.map((name) => [name, certificates])),
  }
}
