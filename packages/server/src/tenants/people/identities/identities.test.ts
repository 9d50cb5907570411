import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import { exportSPKI } from 'jose'
import { parseCompanyProviders } from '../../../ground/config/company-providers.ts'
import type { Databases } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { peopleTopic } from '../authenticate.ts'
import { createIdentities } from './identities.ts'
import type { SignOptions, TestIssuer } from './issuer-fixture.ts'
import { startIssuer } from './issuer-fixture.ts'
import { openProviders } from './provider-keys.ts'

const rules = [
  { groups: ['eng-*'], workspace: 'wrkspc_a', role: 'member' },
  { groups: ['eng-leads'], workspace: 'wrkspc_a', role: 'admin' },
  { groups: ['everybody'], workspace: 'second', role: 'viewer' },
  { claims: { repository: 'acme/*' }, workspace: 'wrkspc_b', role: 'reviewer' },
  { subject: 'service', workspace: 'wrkspc_b', role: 'owner' },
]

async function scene(settings: object = {}) {
  const clock = movedClock()
  await clock.pass(Date.parse('2026-11-27T00:00:00Z'))
  const issuer = await startIssuer(clock)
  const opened = await databases.sqlite()
  const ground = testGround(opened.database, { clock })
  await opened.database.write(async (tx) => {
    for (const [id, name] of [
      ['wrkspc_a', 'first'],
      ['wrkspc_b', 'second'],
    ])
      await tx
        .insertInto('workspaces')
        .values({ id: id ?? '', name: name ?? '', created_at: iso(0) })
        .execute()
  })
  const text = { okta: { issuer: issuer.issuer, audience: 'steward', rules, ...settings } }
  const made = createIdentities(
    openProviders(parseCompanyProviders(JSON.stringify(text)), clock),
    ground,
  )
  return {
    clock,
    issuer,
    ground,
    identities: made,
    identify: (token: string) => made.identify(token),
    async [Symbol.asyncDispose]() {
      await issuer[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    },
  }
}

type Scene = Awaited<ReturnType<typeof scene>>

const engineer = { sub: 'ada', email: 'Ada@acme.example', name: 'Ada', groups: ['eng-web'] }
const subjectsIn = ({ databases: { control } }: { databases: Databases }) =>
  control.read.selectFrom('subjects').selectAll().execute()

const refusals: [string, (issuer: TestIssuer, at: Scene) => Promise<string>, RegExp][] = [
  ['another issuer', ({ sign }) => sign({ ...engineer, iss: 'https://evil.example' }), /issuer/],
  ['another audience', ({ sign }) => sign({ ...engineer, aud: 'other' }), /another audience/],
  [
    'no audience',
    ({ sign }) => sign({ ...engineer, aud: undefined }),
    /lacks the claim aud|another audience/,
  ],
  ['an expired token', ({ sign }) => sign(engineer, { lifetime: -60 }), /expired/],
  ['a token of tomorrow', ({ sign }) => sign(engineer, { issuedAt: 86_400 }), /in the future/],
  ['a token that counts later', at('nbf', 600), /does not count yet/],
  [
    'a token without an end',
    ({ sign }) => sign({ ...engineer, exp: undefined }),
    /lacks the claim exp/,
  ],
  ['a token without a subject', ({ sign }) => sign({ ...engineer, sub: undefined }), /claim sub/],
  ['a token of another type', withHeader({ typ: 'logout+jwt' }), /type/],
  ['no signature', unsigned, /algorithm/],
  ['the public key as a secret', confused, /algorithm/],
  [
    'a key of nobody',
    async (issuer) => issuer.sign(engineer, { header: { kid: 'none' } }),
    /key that/,
  ],
  ['another signature', resigned, /signature/],
]

function at(claim: string, seconds: number) {
  return ({ sign }: TestIssuer, { clock }: Scene) =>
    sign({ ...engineer, [claim]: Math.floor(clock.now() / 1_000) + seconds })
}

function withHeader(header: SignOptions['header'] & object) {
  return ({ sign }: TestIssuer) => sign(engineer, { header })
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

async function unsigned({ sign }: TestIssuer): Promise<string> {
  const [, payload, signature] = (await sign(engineer)).split('.')
  return `${encoded({ alg: 'none', kid: 'first' })}.${payload}.${signature}`
}

async function confused({ sign, state }: TestIssuer): Promise<string> {
  const [key] = state.keys
  assert.ok(key)
  const secret = new TextEncoder().encode(await exportSPKI(key.publicKey))
  return sign(engineer, { header: { alg: 'HS256' }, key: secret })
}

async function resigned({ sign }: TestIssuer): Promise<string> {
  const [header, , signature] = (await sign(engineer)).split('.')
  const [, payload] = (await sign({ ...engineer, groups: ['eng-leads'] })).split('.')
  return `${header}.${payload}.${signature}`
}

describe('a token of an identity provider', () => {
  it('gives the widest role of the matching rules in each workspace', async () => {
    await using at = await scene()
    const groups = ['eng-web', 'eng-leads', 'everybody', 'others']
    const lead = await at.identify(await at.issuer.sign({ ...engineer, groups }))
    assert.deepEqual(
      lead.memberships.map(({ id, role }) => [id, role]),
      [
        ['wrkspc_a', 'admin'],
        ['wrkspc_b', 'viewer'],
      ],
    )
    assert.equal(lead.label, `Ada <ada@acme.example> (${at.issuer.issuer})`)
    assert.equal(lead.kind, 'person')
    const job = { sub: 'repo:acme/app:ref:main', repository: 'acme/app' }
    const ofJob = await at.identify(await at.issuer.sign(job))
    assert.deepEqual([ofJob.kind, ofJob.memberships[0]?.role], ['service', 'reviewer'])
    const others = await at.identify(await at.issuer.sign({ ...job, repository: 'acme-evil/app' }))
    assert.deepEqual([others.id, others.memberships], ['', []])
  })

  it('keeps one id for its holder, and keeps nobody whom no rule names', async () => {
    await using at = await scene()
    const first = await at.identify(await at.issuer.sign(engineer))
    const second = await at.identify(await at.issuer.sign({ ...engineer, name: 'Ada L.' }))
    assert.match(first.id, /^sub_/)
    assert.equal(second.id, first.id)
    await at.identify(await at.issuer.sign({ sub: 'eve', groups: ['x'] }))
    const rows = await subjectsIn(at.ground)
    assert.deepEqual(
      rows.map(({ subject, name, issuer }) => [subject, name, issuer]),
      [['ada', 'Ada L.', at.issuer.issuer]],
    )
  })

  for (const [what, forge, why] of refusals)
    it(`is refused: ${what}`, async () => {
      await using at = await scene()
      const token = await forge(at.issuer, at)
      await assert.rejects(at.identify(token), { kind: 'unauthorized', message: why })
      assert.equal((await subjectsIn(at.ground)).length, 0)
    })

  it('is refused when it is older than token_minutes, however late it ends', async () => {
    await using at = await scene({ token_minutes: 5 })
    const token = await at.issuer.sign(engineer, { lifetime: 86_400 })
    const { expiresAt } = await at.identify(token)
    assert.equal(expiresAt, at.clock.now() + 300_000)
    await at.clock.pass(340_000)
    await assert.rejects(at.identify(token), /expired/)
  })

  it('is asked of its provider once, and counts until the keys were replaced', async () => {
    await using at = await scene()
    const old = await at.issuer.sign(engineer, { lifetime: 3_000 })
    for (let i = 0; i < 50; i++) await at.identify(old)
    assert.deepEqual(at.issuer.state.asked, { keys: 1, discovery: 1, userinfo: 0 })
    await at.issuer.replaceKey('second')
    await at.clock.pass(31_000)
    await at.identify(await at.issuer.sign(engineer))
    assert.equal(at.issuer.state.asked.keys, 2)
    await at.clock.pass(61_000)
    await assert.rejects(at.identify(old), /key that its provider does not have/)
  })

  it('with one of 10,000 unknown keys asks the provider no more than one', async () => {
    await using at = await scene()
    await at.identify(await at.issuer.sign(engineer))
    const [header = '', payload, signature] = (await at.issuer.sign(engineer)).split('.')
    const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg: string }
    await at.clock.pass(31_000)
    const forged = Array.from({ length: 10_000 }, () => {
      const kid = randomBytes(8).toString('hex')
      return at.identify(`${encoded({ alg, kid })}.${payload}.${signature}`)
    })
    const answers = await Promise.allSettled(forged)
    assert.ok(answers.every(({ status }) => status === 'rejected'))
    assert.deepEqual(at.issuer.state.asked, { keys: 2, discovery: 1, userinfo: 0 })
  })

  it('is neither taken nor called bad while its provider does not answer', async () => {
    await using at = await scene()
    at.issuer.state.isAway = true
    const token = await at.issuer.sign(engineer)
    for (let i = 0; i < 100; i++)
      await assert.rejects(at.identify(token), { kind: 'unavailable', message: /okta/ })
    assert.equal(at.issuer.state.authorizations.length, 1)
    at.issuer.state.isAway = false
    await at.clock.pass(6_000)
    await at.identify(token)
  })

  it('counts by known keys for an hour while its provider does not answer', async () => {
    await using at = await scene()
    await at.identify(await at.issuer.sign(engineer))
    at.issuer.state.isAway = true
    await at.clock.pass(3_500_000)
    await at.identify(await at.issuer.sign(engineer))
    await at.clock.pass(200_000)
    await assert.rejects(at.identify(await at.issuer.sign(engineer)), { kind: 'unavailable' })
  })

  it('whose provider names another issuer in its document is not taken', async () => {
    await using at = await scene()
    at.issuer.state.document = { issuer: 'https://evil.example' }
    await assert.rejects(at.identify(await at.issuer.sign(engineer)), { kind: 'unavailable' })
  })

  it('loses within a minute the groups that userinfo no longer says', async () => {
    await using at = await scene({ userinfo: true })
    at.issuer.state.userinfo = { sub: 'ada', groups: ['eng-leads'] }
    const token = await at.issuer.sign({ sub: 'ada' }, { lifetime: 3_000 })
    assert.equal((await at.identify(token)).memberships[0]?.role, 'admin')
    at.issuer.state.userinfo = { sub: 'ada', groups: [] }
    assert.equal((await at.identify(token)).memberships.length, 1)
    await at.clock.pass(61_000)
    assert.equal((await at.identify(token)).memberships.length, 0)
    at.issuer.state.userinfo = { sub: 'bea', groups: ['eng-leads'] }
    await at.clock.pass(61_000)
    await assert.rejects(at.identify(token), { kind: 'unauthorized' })
    at.issuer.state.userinfo = undefined
    await at.clock.pass(61_000)
    await assert.rejects(at.identify(token), /takes the token no longer/)
  })

  it('follows a change of its workspaces at once', async () => {
    await using at = await scene()
    const token = await at.issuer.sign(engineer)
    assert.equal((await at.identify(token)).memberships[0]?.archived_at, null)
    await at.ground.databases.control.write(async (tx) => {
      await tx
        .updateTable('workspaces')
        .set({ deleted_at: iso(1) })
        .where('id', '=', 'wrkspc_a')
        .execute()
    })
    at.ground.bus.publish(peopleTopic, {})
    assert.deepEqual((await at.identify(token)).memberships, [])
  })

  it('keeps out everybody where two workspaces have the name of a rule', async () => {
    await using at = await scene()
    await at.ground.databases.control.write((tx) =>
      tx
        .insertInto('workspaces')
        .values({ id: 'wrkspc_c', name: 'second', created_at: iso(0) })
        .execute(),
    )
    const token = await at.issuer.sign({ sub: 'x', groups: ['everybody'] })
    assert.deepEqual((await at.identify(token)).memberships, [])
    assert.ok(at.ground.lines.some((line) => line.includes('a name that several have')))
  })
})
