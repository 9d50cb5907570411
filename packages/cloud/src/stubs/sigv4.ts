/** For tests: computes a request's Signature Version 4 again, as Amazon does, and compares. */
import { createHash, createHmac } from 'node:crypto'

export type SignedRequest = {
  method: string
  /** Host, path and query as they were sent. */
  host: string
  path: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: Buffer | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

/** Every octet but the unreserved ones is escaped, once more than in the path that is sent. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )

type Known = { secret: string; sessionToken?: string }
type Verdict = { ok: true; region: string; service: string } | { ok: false; reason: string }

const headerOf = ({ headers }: SignedRequest, name: string): string => String(headers[name] ?? '')

const form =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([\da-f]{64})$/

function canonicalText(request: SignedRequest, names: string, bodyHash: string): string {
  const { method, host, path } = request
  const url = new URL(path, `http://${host}`)
  const query = [...url.searchParams]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .toSorted()
    .join('&')
  const value = (name: string) => (name === 'host' ? host : headerOf(request, name)).trim()
  const lines = names.split(';').map((name) => `${name}:${value(name)}`)
  const at = url.pathname.split('/').map(escaped).join('/')
  return [method, at, query, ...lines, '', names, bodyHash].join('\n')
}

/** Why the signature is none, before it is computed; undefined where it may be one. */
function formalFault(
  request: SignedRequest,
  known: Known | undefined,
  names: string,
): string | undefined {
  const header = (name: string) => headerOf(request, name)
  if (!known || (known.sessionToken ?? '') !== header('x-amz-security-token'))
    return 'The security token included in the request is invalid.'
  const ageMs = Date.now() - Date.parse(isoOf(header('x-amz-date')))
  if (!(Math.abs(ageMs) < 300_000)) return 'Signature expired'
  if (!names.split(';').includes('host')) return 'host is not signed'
  const sentHash = header('x-amz-content-sha256')
  if (sentHash && sentHash !== sha256(request.body)) return 'the hash is not of the body'
  return undefined
}

/** The scope of a valid signature, or the reason why it is none. `secretOf`: by access key id. */
export function verifySignature(
  request: SignedRequest,
  secretOf: (accessKeyId: string) => Known | undefined,
): Verdict {
  const parts = form.exec(headerOf(request, 'authorization')) ?? []
  const [id = '', date = '', region = '', service = '', names = '', given = ''] = parts.slice(1)
  const known = secretOf(id)
  const fault = formalFault(request, known, names)
  if (fault !== undefined) return { ok: false, reason: fault }
  const scope = [date, region, service, 'aws4_request']
  const hash = sha256(canonicalText(request, names, sha256(request.body)))
  const stamp = headerOf(request, 'x-amz-date')
  const text = ['AWS4-HMAC-SHA256', stamp, scope.join('/'), hash].join('\n')
  const key = scope.reduce<Buffer | string>(
    (before, part) => hmac(before, part),
    `AWS4${known?.secret}`,
  )
  if (hmac(key, text).toString('hex') === given) return { ok: true, region, service }
  const reason =
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.'
  return { ok: false, reason }
}

const isoOf = (stamp: string): string =>
  stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
