/** For tests: an identity provider that signs tokens, serves its keys, and counts who asks for them. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { JWTPayload } from 'jose'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

type SigningKey = Awaited<ReturnType<typeof newKey>>

async function newKey(kid: string, alg: string) {
  const pair = await generateKeyPair(alg, { extractable: true })
  return { ...pair, kid, alg, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' } }
}

export type SignOptions = {
  header?: { alg?: string; kid?: string | undefined; typ?: string; [name: string]: unknown }
  key?: SigningKey['privateKey'] | Uint8Array
  /** Seconds from now. */
  lifetime?: number
  issuedAt?: number
}

export async function startIssuer({ now = Date.now }: { now?: () => number } = {}) {
  const state = {
    keys: [await newKey('first', 'RS256')],
    asked: { keys: 0, discovery: 0, userinfo: 0 },
    isAway: false,
    /** Replaces fields of the discovery document. */
    document: {},
    userinfo: undefined as object | undefined,
    /** The status of an answer that refuses, and its `error`. */
    refusal: undefined as { status: number; error: string } | undefined,
    /** The number of the refresh token that counts: each use makes another. */
    refreshed: 0,
    authorizations: [] as string[],
  }
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    state.authorizations.push(request.headers.authorization ?? '')
    if (state.isAway) return void answer(503, {})
    switch (request.url) {
      case '/.well-known/openid-configuration':
        state.asked.discovery++
        return void answer(200, {
          issuer,
          jwks_uri: `${issuer}/keys`,
          userinfo_endpoint: `${issuer}/userinfo`,
          token_endpoint: `${issuer}/token`,
          ...state.document,
        })
      case '/keys':
        state.asked.keys++
        return void answer(200, { keys: state.keys.map(({ jwk }) => jwk) })
      case '/token':
        return void renew(request, answer)
      case '/userinfo':
        state.asked.userinfo++
        return void (state.userinfo ? answer(200, state.userinfo) : answer(401, {}))
      default:
        return void answer(404, {})
    }
  })
  async function renew(
    request: IncomingMessage,
    answer: (status: number, body: object) => void,
  ): Promise<void> {
    const form = new URLSearchParams(await text(request))
    const { refusal, refreshed } = state
    if (refusal) return answer(refusal.status, { error: refusal.error })
    if (form.get('refresh_token') !== `refresh-${refreshed}`)
      return answer(400, { error: 'invalid_grant' })
    state.refreshed++
    const refresh_token = `refresh-${state.refreshed}`
    answer(200, { access_token: `access-${state.refreshed}`, refresh_token })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** A token for `steward`, of five minutes, by the first of the keys. */
  async function sign(
    claims: JWTPayload,
    { header = {}, key, lifetime = 300, issuedAt = 0 }: SignOptions = {},
  ): Promise<string> {
    const [first] = state.keys
    if (!first) throw new Error('the issuer has no key')
    const at = Math.floor(now() / 1_000) + issuedAt
    const payload = { iss: issuer, aud: 'steward', iat: at, exp: at + lifetime, ...claims }
    return new SignJWT(payload)
      .setProtectedHeader({ alg: first.alg, kid: first.kid, typ: 'JWT', ...header })
      .sign(key ?? first.privateKey)
  }

  return {
    issuer,
    state,
    sign,
    /** Puts a new key in the place of all others. */
    async replaceKey(kid: string, alg = 'RS256'): Promise<void> {
      state.keys = [await newKey(kid, alg)]
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type TestIssuer = Awaited<ReturnType<typeof startIssuer>>
