/** Follows docs/company-identity.md: its settings start a server, and its calls open it with tokens of a stand-in. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import type { TestIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { startIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { parse } from 'yaml'
import { z } from 'zod'
import type { CompanyProviderStub } from './company-provider.ts'
import { startCompanyProvider } from './company-provider.ts'
import { identitySettings } from './issuer.ts'
import { cookieOf } from './people.ts'
import type { TestService } from './service.ts'
import { boot } from './service.ts'

const page = await readFile(new URL('../docs/company-identity.md', import.meta.url), 'utf8')

const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  )

const Settings = z.object({
  identity_providers: z.record(z.string(), z.looseObject({ audience: z.string().optional() })),
})
const settings = blocks('yaml').flatMap((text) => {
  const read = Settings.safeParse(parse(text))
  return read.success ? [read.data.identity_providers] : []
})
const providers = Object.assign({}, ...settings) as z.infer<typeof Settings>['identity_providers']

/** The section of a call, the provider that signs, what its token says, and what the answer is. */
const calls: { call: RegExp; provider: string; claims: object; answer: RegExp }[] = [
  {
    call: /v1\/ext\/me/,
    provider: 'staff',
    claims: { sub: 'ada', email: 'ada@acme.example', groups: ['eng-web'] },
    answer: /"role":"member"/,
  },
  {
    call: /agents" -H "Authorization: Bearer \$TOKEN"/,
    provider: 'services',
    claims: { sub: 's', azp: 'billing' },
    answer: /"data"/,
  },
  {
    call: /ACTIONS_ID_TOKEN/,
    provider: 'github-actions',
    claims: { sub: 'repo:acme/agents', repository: 'acme/agents', ref: 'refs/heads/main' },
    answer: /"data"/,
  },
  {
    call: /STEWARD_TOKEN/,
    provider: 'gitlab-ci',
    claims: { sub: 'project_path:acme/x', namespace_path: 'acme', ref_protected: 'true' },
    answer: /"data"/,
  },
  {
    call: /TOKEN_FILE/,
    provider: 'cluster',
    claims: { sub: 'system:serviceaccount:agents:worker' },
    answer: /"data"/,
  },
]

/** The calls of the page: its shell, and the script of the job of GitLab. */
const Job = z.object({ apply: z.object({ script: z.array(z.string()) }) })
const scripts = [
  ...blocks('sh'),
  ...blocks('yaml').flatMap((text) => {
    const job = Job.safeParse(parse(text))
    return job.success ? [job.data.apply.script.join('\n')] : []
  }),
]

describe('the page about the identities of a company', () => {
  let folder: string
  let company: CompanyProviderStub
  let service: TestService
  const issuers = new Map<string, TestIssuer>()
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-identity-'))
    await writeFile(join(folder, 'secret'), 'a secret of the company')
    await writeFile(join(folder, 'bearer'), 'the token of the server')
    company = await startCompanyProvider({
      ...{ sub: 'ada', email: 'ada@acme.example', email_verified: true, name: 'Ada' },
      groups: ['eng-web'],
    })
    const used: Record<string, object> = {}
    for (const [name, given] of Object.entries(providers)) {
      const issuer = await startIssuer()
      issuers.set(name, issuer)
      used[name] = {
        ...given,
        issuer: name === 'acme' ? company.issuer : issuer.issuer,
        ...('jwks_uri' in given && { jwks_uri: `${issuer.issuer}/keys` }),
        ...('bearer_file' in given && { bearer_file: join(folder, 'bearer') }),
        ...('client_secret_file' in given && { client_secret_file: join(folder, 'secret') }),
      }
    }
    const env = { PUBLIC_URL: 'https://steward.acme.example', ...identitySettings(used) }
    service = await boot('sqlite', { env })
  })
  after(async () => {
    await service.close()
    for (const issuer of issuers.values()) await issuer[Symbol.asyncDispose]()
    await company[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  it('has settings for people, services, CI and pods', () => {
    const names = ['acme', 'staff', 'services', 'github-actions', 'gitlab-ci', 'cluster']
    assert.deepEqual(Object.keys(providers), names)
  })

  it('lets a person of a group sign in', async () => {
    const answer = await company.signIn(service, 'acme')
    const headers = { 'x-api-key': '', cookie: cookieOf(answer.headers) }
    const { body } = await service.ask('GET', '/v1/ext/me', undefined, headers)
    assert.match(JSON.stringify(body), /"role":"member"/)
  })

  for (const { call, provider, claims, answer } of calls)
    it(`has a call that opens the server by a token of ${provider}`, async () => {
      const script = scripts.find((each) => call.test(each))
      assert.ok(script)
      const issuer = issuers.get(provider)
      assert.ok(issuer)
      const aud = providers[provider]?.audience
      const token = await issuer.sign({ ...claims, ...(aud !== undefined && { aud }) })
      await writeFile(join(folder, 'token'), token)
      const host = createServer((_, response) => response.end(JSON.stringify({ value: token })))
      host.listen(0, '127.0.0.1')
      await once(host, 'listening')
      const { port } = host.address() as AddressInfo
      const env = {
        PATH: process.env['PATH'],
        ...{ STEWARD_URL: service.base, TOKEN: token, STEWARD_TOKEN: token },
        TOKEN_FILE: join(folder, 'token'),
        ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/?x=y`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the job',
      }
      const { stdout } = await promisify(execFile)('sh', ['-c', script], { env })
      host.close()
      assert.match(stdout, answer)
      const sent = issuer.state.authorizations
      if (provider === 'cluster') assert.ok(sent.includes('Bearer the token of the server'))
    })
})
