/** Follows docs/company-secrets.md, with a stand-in in place of the company's secret manager. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import {
  parseKeyService,
  parseSecretManagers,
  prefixFor,
} from '@steward/secret-managers/settings.ts'
import { startStubVault, workloadToken } from '@steward/secret-managers/stubs/stub-vault.ts'
import type { LooseBody } from './service.ts'
import { adminKey, boot } from './service.ts'

const run = promisify(execFile)
const page = await readFile(join(import.meta.dirname, '../docs/company-secrets.md'), 'utf8')
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  )
const settings = blocksOf('json')
const [vaultSettings = ''] = settings

describe('the page on secrets of a company', () => {
  it('has settings for each manager and each key service, as the server takes them', () => {
    const managers = settings.flatMap((text) => Object.values(parseSecretManagers(text)))
    assert.deepEqual(
      managers.map(({ type }) => type),
      ['vault', 'aws', 'google', 'azure'],
    )
    const rows = [...page.matchAll(/^\| [^|]+ \| `(\{"type": "[a-z-]+", .*"key": .*\})` \|$/gm)]
    assert.deepEqual(
      rows.map(([, text = '']) => parseKeyService(text).type),
      ['vault-transit', 'aws-kms', 'google-kms', 'azure-key-vault'],
    )
    const [vault] = managers
    assert.ok(vault)
    assert.equal(prefixFor(vault, 'wrkspc_019c2f0a7b3c7d40a1b2c3d4e5f60718'), 'team-a/')
    assert.equal(prefixFor(vault, 'wrkspc_other'), 'steward/wrkspc_other/')
  })

  it('leads from settings to a credential, and to the line of its read', async () => {
    await using stack = new AsyncDisposableStack()
    const manager = stack.use(await startStubVault())
    const folder = await mkdtemp(join(tmpdir(), 'steward-page-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const token_file = join(folder, 'token')
    await writeFile(token_file, `${workloadToken}\n`)
    const given = JSON.parse(vaultSettings) as { vault: { auth: object } }
    const auth = { ...given.vault.auth, token_file }
    const vault = { ...given.vault, auth, address: manager.server.url }
    const service = await boot('sqlite', { env: { SECRET_MANAGERS: JSON.stringify({ vault }) } })
    stack.defer(() => service.close())

    const [define = '', ...steps] = blocksOf('sh')
    const [functions = '', create = ''] = define.split('\n\n')
    const shell = async (step: string, env: Record<string, string> = {}): Promise<LooseBody> => {
      const { stdout } = await run('sh', ['-c', `${functions}\n${step}`], {
        env: { PATH: process.env['PATH'], URL: service.base, KEY: adminKey, ...env },
      })
      return JSON.parse(stdout) as LooseBody
    }
    const made = await shell(create)
    assert.match(made.id, /^vlt_/)
    const VAULT = made.id
    const secret = 'ghp_of-the-company-0123456789'
    manager.put(`steward/${String(made['tenant_id'])}/github`, { token: secret, user: 'me' })
    assert.equal(steps.length, 3)
    const [store = '', wrong = '', trail = ''] = steps
    const stored = await shell(store, { VAULT })
    assert.match(stored.id, /^vcrd_/)
    assert.ok(!JSON.stringify(stored).includes(secret))
    const refused = await shell(wrong, { VAULT })
    const words = blocksOf('text')
      .find((text) => text.startsWith('auth.token'))
      ?.trim()
    assert.deepEqual((refused['error'] as LooseBody)['message'], words)
    const read = await shell(trail, { VAULT })
    assert.deepEqual(
      read.data.map(({ name, result }) => [name, result]),
      [
        ['githup', 'missing'],
        ['github', 'read'],
      ],
    )
  })
})
