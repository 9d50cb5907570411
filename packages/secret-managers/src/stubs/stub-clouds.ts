/** For tests: the secret managers and key services of the clouds. They verify signatures and tokens. */
import {
  constants,
  createCipheriv,
  createDecipheriv,
  generateKeyPairSync,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import { verifySignature } from '@steward/cloud/stubs/sigv4.ts'
import type { GivenKeys } from '@steward/cloud/stubs/stub-aws.ts'
import type { StubAnswer, StubRequest, StubSecrets } from './stub-manager.ts'
import { bodyOf, jsonAnswer, textOf } from './stub-manager.ts'

export type StubCloudState = {
  secrets: StubSecrets
  denied: Set<string>
}

export const newState = (): StubCloudState => ({ secrets: new Map(), denied: new Set() })

type StubAnswers = (request: StubRequest) => StubAnswer

const aws = (status: number, __type: string, message: string) =>
  jsonAnswer({ __type, message }, status)

/** Versions have ids, as Amazon gives them. */
export const awsVersion = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** One symmetric key, which seals with the text that is bound to it. */
function symmetricKey() {
  const key = randomBytes(32)
  return {
    seal: (plain: Buffer, bound: string): Buffer => {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(bound))
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    },
    /** Undefined: the text was not sealed here, or for something else. */
    open: (sealed: Buffer, bound: string): Buffer | undefined => {
      try {
        const opener = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
          .setAAD(Buffer.from(bound))
          .setAuthTag(sealed.subarray(-16))
        return Buffer.concat([opener.update(sealed.subarray(12, -16)), opener.final()])
      } catch {
        return undefined
      }
    },
  }
}

export function stubAws(state: StubCloudState, keys: GivenKeys): StubAnswers {
  const { seal, open } = symmetricKey()
  return (request) => {
    const verified = verifySignature(request, (id) => keys.get(id))
    if (!verified.ok) return aws(400, 'UnrecognizedClientException', verified.reason)
    const target = String(request.headers['x-amz-target'])
    const body = bodyOf(request)
    const service = target.startsWith('TrentService.') ? 'kms' : 'secretsmanager'
    if (verified.service !== service || verified.region !== 'eu-central-1')
      return aws(400, 'InvalidSignatureException', 'Credential should be scoped to a valid region')
    const context = JSON.stringify(body['EncryptionContext'] ?? {})
    if (target === 'TrentService.Encrypt') {
      const sealed = seal(Buffer.from(textOf(body, 'Plaintext'), 'base64'), context)
      return jsonAnswer({ CiphertextBlob: sealed.toString('base64'), KeyId: body['KeyId'] })
    }
    if (target === 'TrentService.Decrypt') {
      const opened = open(Buffer.from(textOf(body, 'CiphertextBlob'), 'base64'), context)
      return opened
        ? jsonAnswer({ Plaintext: opened.toString('base64') })
        : aws(400, 'InvalidCiphertextException', '')
    }
    const name = textOf(body, 'SecretId')
    if (state.denied.has(name))
      return aws(400, 'AccessDeniedException', `User: arn:aws:sts::1:role/x is not authorized`)
    const versions = state.secrets.get(name)
    const ids = versions?.map((_, index) => awsVersion(index + 1)) ?? []
    const index = textOf(body, 'VersionId')
      ? ids.indexOf(textOf(body, 'VersionId'))
      : ids.length - 1
    const value = versions?.[index]
    if (typeof value !== 'string')
      return aws(
        400,
        'ResourceNotFoundException',
        "Secrets Manager can't find the specified secret.",
      )
    return jsonAnswer({ Name: name, SecretString: value, VersionId: ids[index] })
  }
}

const google = (code: number, status: string, message: string) =>
  jsonAnswer({ error: { code, message, status } }, code)

const tokenOf = ({ headers }: StubRequest): string =>
  String(headers.authorization).replace(/^Bearer /, '')

export function stubGoogle(state: StubCloudState, tokens: ReadonlySet<string>): StubAnswers {
  const { seal, open } = symmetricKey()
  return (request) => {
    if (!tokens.has(tokenOf(request)))
      return google(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    const key = /^\/v1\/projects\/p\/locations\/global\/keyRings\/r\/cryptoKeys\/k:(\w+)$/
    const [, verb] = key.exec(request.path) ?? []
    const body = bodyOf(request)
    const bound = textOf(body, 'additionalAuthenticatedData')
    if (verb === 'encrypt') {
      const sealed = seal(Buffer.from(textOf(body, 'plaintext'), 'base64'), bound)
      return jsonAnswer({ name: request.path, ciphertext: sealed.toString('base64') })
    }
    if (verb === 'decrypt') {
      const opened = open(Buffer.from(textOf(body, 'ciphertext'), 'base64'), bound)
      return opened
        ? jsonAnswer({ plaintext: opened.toString('base64') })
        : google(400, 'INVALID_ARGUMENT', 'Decryption failed: the ciphertext is invalid.')
    }
    const secret = /^\/v1\/projects\/p\/secrets\/([\w-]+)\/versions\/(\w+):access$/
    const [, name = '', version = ''] = secret.exec(request.path) ?? []
    if (state.denied.has(name))
      return google(403, 'PERMISSION_DENIED', "Permission 'secretmanager.versions.access' denied")
    const versions = state.secrets.get(name)
    const number = version === 'latest' ? (versions?.length ?? 0) : Number(version)
    const value = versions?.[number - 1]
    if (typeof value !== 'string') return google(404, 'NOT_FOUND', `Secret [${name}] not found.`)
    return jsonAnswer({
      name: `projects/1/secrets/${name}/versions/${number}`,
      payload: { data: Buffer.from(value).toString('base64') },
    })
  }
}

const azure = (status: number, code: string, message: string) =>
  jsonAnswer({ error: { code, message } }, status)

/** Versions have 32 hexadecimal digits. */
export const azureVersion = (number: number): string => number.toString(16).padStart(32, '0')

export function stubAzure(state: StubCloudState, tokens: ReadonlySet<string>): StubAnswers {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }
  const base = 'https://v.vault.azure.net'
  function key(request: StubRequest, path: string): StubAnswer {
    const version = azureVersion(1)
    const kid = `${base}/keys/steward/${version}`
    if (path === 'keys/steward') return jsonAnswer({ key: { kid, kty: 'RSA' } })
    const { alg, value } = bodyOf(request)
    if (alg !== 'RSA-OAEP-256') return azure(400, 'BadParameter', 'Invalid algorithm')
    const bytes = Buffer.from(String(value), 'base64url')
    try {
      if (path === `keys/steward/${version}/wrapkey`) {
        const wrapped = publicEncrypt({ key: pair.publicKey, ...padding }, bytes)
        return jsonAnswer({ kid, value: wrapped.toString('base64url') })
      }
      if (path !== `keys/steward/${version}/unwrapkey`)
        return azure(404, 'KeyNotFound', 'A key with (name/id) was not found')
      const plain = privateDecrypt({ key: pair.privateKey, ...padding }, bytes)
      return jsonAnswer({ kid, value: plain.toString('base64url') })
    } catch {
      return azure(400, 'BadParameter', 'The parameter is incorrect.')
    }
  }
  return (request) => {
    if (!tokens.has(tokenOf(request)))
      return azure(401, 'Unauthorized', 'AKV10032: Invalid issuer.')
    const url = new URL(request.path, base)
    if (url.searchParams.get('api-version') !== '7.4')
      return azure(400, 'BadParameter', 'api-version was not specified')
    const path = url.pathname.slice(1)
    if (path.startsWith('keys/')) return key(request, path)
    const [, name = '', version] =
      /^secrets\/([0-9A-Za-z-]+)(?:\/([0-9a-f]{32}))?$/.exec(path) ?? []
    if (state.denied.has(name))
      return azure(403, 'Forbidden', 'The user does not have secrets get permission on key vault')
    const versions = state.secrets.get(name)
    const ids = versions?.map((_, index) => azureVersion(index + 1)) ?? []
    const index = version === undefined ? ids.length - 1 : ids.indexOf(version)
    const value = versions?.[index]
    if (typeof value !== 'string')
      return azure(404, 'SecretNotFound', `A secret with (name/id) ${name} was not found`)
    return jsonAnswer({ value, id: `${base}/secrets/${name}/${ids[index]}`, attributes: {} })
  }
}
