import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { systemClock } from '@steward/base/time.ts'
import { openTestEgress, tenant } from '../callers/egress-fixture.ts'
import type { EchoedRequest } from '../fixture.ts'
import { echo, upstreamServer } from '../fixture.ts'
import { agentIdentity, periodMs } from './keys.ts'

const issuer = 'https://steward.example'
const roots: [Buffer, Buffer] = [Buffer.alloc(32, 5), Buffer.alloc(32, 6)]
const auth = {
  type: 'agent_identity' as const,
  audience: 'https://tools.example',
  mcp_server_url: 'https://api.example/mcp',
  allowed_hosts: ['*.api.example'],
  ttl_seconds: 60,
  claims: { team: 'data' },
}

/** An egress at `at.ms`, whose upstream tells what came. */
async function openScene(at: { ms: number }) {
  const seen: string[] = []
  const server = await upstreamServer(async (request, response) => {
    seen.push(request.headers.authorization ?? '')
    await echo(request, response)
  })
  const clock = { ...systemClock, now: () => at.ms }
  const identity = agentIdentity(issuer, roots)
  const opened = await openTestEgress(server, { clock, identity })
  const { vault } = await opened.vaultWith(auth)
  const { id, egress } = await opened.session([vault])
  const call = async (url: string) => {
    const answer = await egress.outboundFetch({ credentials: true })(url)
    return { token: seen.at(-1)?.replace(/^Bearer /, '') ?? '', text: await answer.text() }
  }
  const verify = (token: string, ms = at.ms) =>
    jwtVerify(token, createLocalJWKSet({ keys: identity.published(ms) }), {
      issuer,
      audience: auth.audience,
      algorithms: ['ES256'],
      currentDate: new Date(ms),
    })
  return {
    session: id,
    call,
    verify,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

describe('the token of an agent', () => {
  it('says who calls, to the servers that are named and to no other', async () => {
    const at = { ms: 20_000 * 86_400_000 }
    await using scene = await openScene(at)
    for (const url of [
      'https://api.example/mcp',
      'https://api.example/x',
      'https://a.api.example/',
    ]) {
      const { token, text } = await scene.call(url)
      const { payload } = await scene.verify(token)
      assert.equal(payload['workspace'], tenant)
      assert.equal(payload['session'], scene.session)
      assert.equal(payload.sub, `workspace:${tenant}:agent:${String(payload['agent'])}`)
      assert.deepEqual(payload['claims'], auth.claims)
      assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 60)
      const told = JSON.parse(text) as EchoedRequest
      assert.ok(!text.includes(token), 'the answer repeats the token')
      assert.match(told.headers['authorization'] ?? '', /\*{20,}/)
    }
    assert.equal((await scene.call('https://other.example/')).token, '')
  })

  it('is made anew when half of its time is over, each with an id of its own', async () => {
    const at = { ms: 20_000 * 86_400_000 }
    await using scene = await openScene(at)
    const first = (await scene.call(auth.mcp_server_url)).token
    at.ms += 29_000
    assert.equal((await scene.call(auth.mcp_server_url)).token, first)
    at.ms += 2_000
    const second = (await scene.call(auth.mcp_server_url)).token
    const ids = await Promise.all(
      [first, second].map(async (token) => (await scene.verify(token)).payload.jti),
    )
    assert.notEqual(ids[0], ids[1])
    await assert.rejects(scene.verify(first, at.ms + 31_000), /"exp" claim/)
  })

  it('is verified over the change of the key, by keys that were read before and after it', async () => {
    const last = { ms: 700 * periodMs - 1_000 }
    await using scene = await openScene(last)
    const before = (await scene.call(auth.mcp_server_url)).token
    const read = last.ms
    last.ms += 60_000
    const after = (await scene.call(auth.mcp_server_url)).token
    assert.notEqual(decodeProtectedHeader(before).kid, decodeProtectedHeader(after).kid)
    const { published } = agentIdentity(issuer, roots)
    for (const [token, keysOf] of [
      [before, last.ms],
      [after, read],
    ] as const) {
      const keys = createLocalJWKSet({ keys: published(keysOf) })
      await jwtVerify(token, keys, { issuer, currentDate: new Date(read) })
    }
  })

  it('is verified while the root secret changes, and is nobody’s who has another', async () => {
    const at = { ms: 20_000 * 86_400_000 }
    await using scene = await openScene(at)
    const { token } = await scene.call(auth.mcp_server_url)
    const rotated = agentIdentity(issuer, [Buffer.alloc(32, 9), roots[0]])
    await jwtVerify(token, createLocalJWKSet({ keys: rotated.published(at.ms) }), {
      issuer,
      currentDate: new Date(at.ms),
    })
    const foreign = agentIdentity(issuer, [Buffer.alloc(32, 9)])
    await assert.rejects(
      jwtVerify(token, createLocalJWKSet({ keys: foreign.published(at.ms) })),
      /no applicable key/,
    )
  })
})
