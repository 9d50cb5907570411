/** For tests: HashiCorp Vault with key-value engines of both versions, sign-ins and a transit key. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { StubAnswer, StubManager, StubRequest } from './stub-manager.ts'
import { bodyOf, jsonAnswer, startStubManager, textOf } from './stub-manager.ts'

export const vaultRoleId = 'role-id-of-steward'
export const vaultSecretId = 'secret-id-of-steward-0123456789'
export const workloadToken = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJzdGV3YXJkIn0.c3R1Yg'

type StubFields = Record<string, string>
type StubVersion = { fields: StubFields; isDeleted: boolean }

export type StubVault = {
  server: StubManager
  /** Valid tokens. */
  tokens: Set<string>
  /** Puts a version, and returns its number. */
  put: (name: string, fields: StubFields) => number
  deleteNewest: (name: string) => void
  /** Names that no policy lets the server read. */
  denied: Set<string>
  /** Seconds that a new token lasts. */
  lease: number
  isSealed: boolean
  signIns: () => number
  /** The transit key gets another version; the versions before it still decrypt. */
  rotateKey: () => void
  /** Texts that a client may have to keep secret. */
  given: string[]
} & AsyncDisposable

const errors = (status: number, ...said: string[]) => jsonAnswer({ errors: said }, status)

export async function startStubVault({
  namespace,
}: { namespace?: string } = {}): Promise<StubVault> {
  const secrets = new Map<string, StubVersion[]>()
  const keys = [randomBytes(32)]
  let signIns = 0

  function signIn(request: StubRequest): StubAnswer {
    signIns++
    const { role_id, secret_id, role, jwt } = bodyOf(request)
    const isApprole = role_id === vaultRoleId && secret_id === vaultSecretId
    const isWorkload = role === 'steward' && jwt === workloadToken
    const isHere = request.path.includes('/approle/') ? isApprole : isWorkload
    if (!isHere) return errors(400, 'invalid role or secret ID')
    const client_token = `hvs.${randomBytes(12).toString('hex')}`
    vault.tokens.add(client_token)
    vault.given.push(client_token)
    return jsonAnswer({ auth: { client_token, lease_duration: vault.lease, renewable: true } })
  }

  function read(path: string, query: URLSearchParams): StubAnswer {
    const isSecond = path.startsWith('secret/data/')
    const name = decodeURIComponent(path.replace(isSecond ? 'secret/data/' : 'old/', ''))
    if (vault.denied.has(name)) return errors(403, '1 error occurred:\n\t* permission denied\n\n')
    const versions = secrets.get(name)
    if (!versions) return errors(404)
    const number = Number(query.get('version') ?? versions.length)
    const found = versions[number - 1]
    if (!found) return errors(404)
    if (!isSecond) return jsonAnswer({ data: found.fields, lease_duration: 2_764_800 })
    const metadata = { version: number, destroyed: false, deletion_time: '' }
    return found.isDeleted
      ? jsonAnswer({ data: { data: null, metadata: { ...metadata, deletion_time: 'now' } } }, 404)
      : jsonAnswer({ data: { data: found.fields, metadata } })
  }

  function transit(path: string, request: StubRequest): StubAnswer {
    const body = bodyOf(request)
    const bound = Buffer.from(textOf(body, 'associated_data'), 'base64')
    if (path === 'transit/encrypt/steward') {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keys.at(-1) ?? '', nonce).setAAD(bound)
      const plain = Buffer.from(textOf(body, 'plaintext'), 'base64')
      const sealed = Buffer.concat([
        nonce,
        cipher.update(plain),
        cipher.final(),
        cipher.getAuthTag(),
      ])
      return jsonAnswer({
        data: { ciphertext: `vault:v${keys.length}:${sealed.toString('base64')}` },
      })
    }
    if (path !== 'transit/decrypt/steward') return errors(403, 'permission denied')
    const [, version, text = ''] = /^vault:v(\d+):(.+)$/.exec(textOf(body, 'ciphertext')) ?? []
    const key = keys[Number(version) - 1]
    if (!key) return errors(400, 'invalid ciphertext: no prefix')
    const sealed = Buffer.from(text, 'base64')
    try {
      const opener = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
        .setAAD(bound)
        .setAuthTag(sealed.subarray(-16))
      const plain = Buffer.concat([opener.update(sealed.subarray(12, -16)), opener.final()])
      return jsonAnswer({ data: { plaintext: plain.toString('base64') } })
    } catch {
      return errors(400, 'cipher: message authentication failed')
    }
  }

  const server = await startStubManager((request) => {
    if (vault.isSealed) return errors(503, 'Vault is sealed')
    const url = new URL(request.path, 'http://vault')
    const path = url.pathname.replace('/v1/', '')
    if (request.headers['x-vault-request'] !== 'true') return errors(412, 'no header')
    if (namespace !== undefined && request.headers['x-vault-namespace'] !== namespace)
      return errors(403, 'permission denied')
    if (/^auth\/(approle|kubernetes|jwt)\/login$/.test(path)) return signIn(request)
    const token = String(request.headers['x-vault-token'])
    if (!vault.tokens.has(token)) return errors(403, 'permission denied')
    if (path === 'auth/token/lookup-self') return jsonAnswer({ data: { ttl: vault.lease } })
    return path.startsWith('transit/') ? transit(path, request) : read(path, url.searchParams)
  })
  const vault: StubVault = {
    server,
    tokens: new Set(),
    put(name, fields) {
      const versions = secrets.get(name) ?? []
      secrets.set(name, versions)
      return versions.push({ fields, isDeleted: false })
    },
    deleteNewest(name) {
      const newest = secrets.get(name)?.at(-1)
      if (newest) newest.isDeleted = true
    },
    denied: new Set(),
    lease: 3_600,
    isSealed: false,
    signIns: () => signIns,
    rotateKey: () => void keys.push(randomBytes(32)),
    given: [vaultSecretId, workloadToken],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  return vault
}
