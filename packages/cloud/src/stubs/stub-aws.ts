/** For tests: Amazon's STS, the address of its machines and the one of its containers. */
import { verifySignature } from './sigv4.ts'
import type { CloudAnswer, CloudRoute } from './stub-server.ts'
import { json } from './stub-server.ts'

export const awsKeys = {
  accessKeyId: 'AKIASTUBSTUBSTUBSTUB',
  secretAccessKey: 'stub/secret+access/key/of/forty/letters0',
} as const
export const awsRole = 'arn:aws:iam::123456789012:role/models'
export const webIdentityToken = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJwb2QifQ.c3R1Yg'
export const containerToken = 'stub-token-of-the-pod'

type Given = {
  /** Seconds for which keys are valid. */
  lifetime?: number
  /** An error in place of keys. */
  refuses?: { status: number; code: string; message: string } | undefined
  externalId?: string | undefined
}

/** Keys that the stub gave out, by their id. */
export type GivenKeys = Map<string, { secret: string; sessionToken?: string }>

export function awsRoutes(given: Given = {}): { routes: CloudRoute[]; keys: GivenKeys } {
  const keys: GivenKeys = new Map([[awsKeys.accessKeyId, { secret: awsKeys.secretAccessKey }]])
  let count = 0
  function newKeys() {
    count++
    const id = `ASIASTUB${String(count).padStart(12, '0')}`
    const made = { secret: `secret-of-${id}`, sessionToken: `session-of-${id}` }
    keys.set(id, made)
    const expiration = new Date(Date.now() + (given.lifetime ?? 3_600) * 1_000).toISOString()
    return { id, ...made, expiration: expiration.replace(/\.\d+Z/, 'Z') }
  }

  const sts: CloudRoute = (request) => {
    if (!request.host.startsWith('sts.')) return undefined
    const action = request.form.get('Action') ?? ''
    const { refuses } = given
    if (refuses) return stsError(refuses.status, refuses.code, refuses.message)
    if (request.form.get('RoleArn') !== awsRole)
      return stsError(403, 'AccessDenied', `Not authorized to perform sts:${action}`)
    if (action === 'AssumeRoleWithWebIdentity') {
      if (request.form.get('WebIdentityToken') !== webIdentityToken)
        return stsError(400, 'InvalidIdentityToken', 'The token is not of this provider')
    } else {
      const verified = verifySignature(request, (id) => keys.get(id))
      if (!verified.ok) return stsError(403, 'SignatureDoesNotMatch', verified.reason)
      if ((request.form.get('ExternalId') ?? undefined) !== given.externalId)
        return stsError(403, 'AccessDenied', `Not authorized to perform sts:${action}`)
    }
    const made = newKeys()
    return {
      headers: { 'content-type': 'text/xml' },
      body: `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials><AccessKeyId>${made.id}</AccessKeyId><SecretAccessKey>${made.secret}</SecretAccessKey><SessionToken>${made.sessionToken}</SessionToken><Expiration>${made.expiration}</Expiration></Credentials><AssumedRoleUser><Arn>${awsRole}/steward</Arn><AssumedRoleId>AROA:steward</AssumedRoleId></AssumedRoleUser></${action}Result></${action}Response>`,
    }
  }

  const keysAsJson = (): CloudAnswer => {
    const made = newKeys()
    return json({
      Code: 'Success',
      Type: 'AWS-HMAC',
      AccessKeyId: made.id,
      SecretAccessKey: made.secret,
      Token: made.sessionToken,
      Expiration: made.expiration,
      LastUpdated: new Date().toISOString(),
    })
  }

  const container: CloudRoute = ({ path, headers }) => {
    if (path !== '/v1/credentials') return undefined
    return headers.authorization === containerToken
      ? keysAsJson()
      : json({ message: 'Invalid authorization token' }, 401)
  }

  const session = 'stub-session-of-imds'
  const machine: CloudRoute = ({ path, method, headers }) => {
    if (path === '/latest/api/token')
      return method === 'PUT' && headers['x-aws-ec2-metadata-token-ttl-seconds']
        ? { body: session }
        : { status: 405, body: '' }
    const folder = '/latest/meta-data/iam/security-credentials/'
    if (!path.startsWith(folder)) return undefined
    if (headers['x-aws-ec2-metadata-token'] !== session) return { status: 401, body: '' }
    return path === folder ? { body: 'models' } : keysAsJson()
  }
  return { routes: [sts, container, machine], keys }
}

const stsError = (status: number, code: string, message: string): CloudAnswer => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>stub</RequestId></ErrorResponse>`,
})
