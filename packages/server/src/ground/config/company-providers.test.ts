import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseCompanyProviders } from './company-providers.ts'

const okta = { issuer: 'https://acme.okta.example', audience: 'steward' }
const github = { issuer: 'https://token.actions.githubusercontent.com', audience: 'steward' }
const gives = { workspace: 'w', role: 'member' }

const parse = (providers: object) => parseCompanyProviders(JSON.stringify(providers))

describe('identity providers of a company', () => {
  const wrong: [string, object, RegExp][] = [
    ['a provider without an issuer', { okta: { audience: 'x' } }, /okta\.issuer: is required/],
    [
      'plain HTTP',
      { okta: { ...okta, issuer: 'http://okta.example' } },
      /okta\.issuer: must be an https/,
    ],
    [
      'no audience',
      { okta: { issuer: okta.issuer } },
      /okta\.audience: is required, unless sign_in/,
    ],
    ['a secret algorithm', { okta: { ...okta, algorithms: ['HS256'] } }, /okta\.algorithms\.0/],
    ['no signature', { okta: { ...okta, algorithms: ['none'] } }, /okta\.algorithms\.0/],
    ['an unknown field', { okta: { ...okta, client: 'x' } }, /client/],
    [
      'an unknown role',
      { okta: { ...okta, rules: [{ ...gives, subject: '*', role: 'root' }] } },
      /role/,
    ],
    [
      'a rule for everybody',
      { okta: { ...okta, rules: [gives] } },
      /needs groups, claims or subject/,
    ],
    ['sign-in without a client', { okta: { ...okta, sign_in: true } }, /client_id/],
    ['a name that is taken', { github: okta }, /github: is taken/],
    ['an issuer that stands twice', { a: okta, b: okta }, /b\.issuer: is that of a too/],
    ['a name with a slash', { 'a/b': okta }, /takes a-z/],
  ]
  for (const [what, given, why] of wrong)
    it(`are refused: ${what}`, () => assert.throws(() => parse(given), { message: why }))

  it('quote no secret in a refusal', () => {
    const given = { okta: { ...okta, sign_in: 'yes', client_id: 'x', client_secret: 'hush-hush' } }
    assert.throws(
      () => parse(given),
      (error: Error) => !error.message.includes('hush-hush'),
    )
  })

  it('read a client secret from a file of its own', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-secret-'))
    const file = join(folder, 'secret')
    await writeFile(file, 'from a file\n')
    const client = { sign_in: true, client_id: 'x', client_secret_file: file }
    assert.equal(parse({ okta: { ...okta, ...client } })[0]?.client?.secret, 'from a file')
    await rm(folder, { recursive: true })
  })

  const everybody = [
    { subject: '*' },
    { subject: 'repo:*' },
    { subject: 'repo:acme*' },
    { subject: 'environment:production' },
    { subject: 'environment:production:repo:acme/*' },
    { claims: { repository: '*' } },
    { claims: { repository: 'acme*' } },
    { claims: { repository: ['acme/app', '*/app'] } },
    { claims: { actor: 'ada' } },
    { groups: ['x'] },
  ]
  for (const conditions of everybody)
    it(`do not open a workspace to the whole code host: ${JSON.stringify(conditions)}`, () => {
      const rules = [{ ...gives, ...conditions }]
      assert.throws(() => parse({ ci: { ...github, rules } }), /everybody in the world/)
    })

  const owned = [
    { claims: { repository: 'acme/*' } },
    { claims: { repository_owner: 'acme' } },
    { subject: 'repo:acme/*' },
    { subject: 'repo:acme/app:ref:refs/heads/main', claims: { ref: '*' } },
  ]
  for (const conditions of owned)
    it(`take a rule that names an owner: ${JSON.stringify(conditions)}`, () => {
      const [provider] = parse({ ci: { ...github, rules: [{ ...gives, ...conditions }] } })
      assert.equal(provider?.rules.length, 1)
    })
})
