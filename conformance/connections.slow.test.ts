/** A server opens no connection that docs/connections.md does not name: the kernel of a network of its own records all. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe } from 'node:test'
import { flagsOfNode } from '@steward/base/program-fixture.ts'
import { listSettings } from '@steward/base/settings/setting.ts'
import { packageRegistries } from '@steward/server/engine/egress/policy/registries.ts'
import { serverProgram } from '@steward/server/ground/config/settings.ts'
import type { Dialled } from './connections/recorder.ts'
import { verifies } from './verifies.ts'

const inside = fileURLToPath(import.meta.resolve('./connections/inside.ts'))
const page = fileURLToPath(import.meta.resolve('../docs/connections.md'))

/** The row of the page that names each connection of the journeys. */
const rowOf: Readonly<Record<string, string>> = {
  'the name server:53': 'name server',
  'models.example:443': 'model',
  'api.anthropic.com:443': "operator's model",
  'api.tavily.com:443': 'web search',
  'pages.example:443': 'page',
  'mcp.example:443': 'MCP server',
  'commands.example:443': 'command',
  'github.com:443': 'repository',
  'pypi.org:443': 'package registry',
  'hooks.example:443': 'webhook',
  'hint.example:443': 'hint',
  'slack.com:443': 'integration',
  'oauth2.googleapis.com:443': 'sign-in',
  'mail.example:2525': 'email',
  'otel.example:443': 'collector',
  'siem.example:6514': 'audit stream',
  'bucket.example:443': 'bucket',
}

/** Rows whose journeys need another machine, another database, or a stand-in that other tests have. */
const unmade = [
  ...['container registry', 'database', 'message bus', 'peer'],
  ...['cloud', 'cloud identity', 'company provider', 'secret manager', 'key service'],
]

const nameOf = ({ name, port }: Dialled) => `${name}:${port}`

/** Connections that no row of the page names. */
const strays = (dialled: readonly Dialled[]) =>
  dialled.map(nameOf).filter((name) => rowOf[name] === undefined)

const install = 'apt-get install util-linux iproute2 nftables'

/** Runs the server in a network and a mount namespace of its own, as root there. */
async function dialledIn(mode: 'usual' | 'everything' | 'stray'): Promise<Dialled[]> {
  const user = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const command = [process.execPath, ...flagsOfNode, inside, mode]
  const { stdout } = await promisify(execFile)(
    'unshare',
    ['--net', '--mount', '--kill-child', ...user, ...command],
    { timeout: 120_000 },
  ).catch((error: Error & { stderr?: string }) => {
    throw new Error(`the namespace needs ${install}: ${error.message} ${error.stderr ?? ''}`)
  })
  return JSON.parse(stdout) as Dialled[]
}

/** The cells of the first table of the page. */
async function rowsOfPage(): Promise<string[][]> {
  const text = await readFile(page, 'utf8')
  const [, table = ''] = /^\| connection .*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(text) ?? []
  return table
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

describe('connections', () => {
  verifies(
    'service/connections',
    'of a server without settings: none, and no name is looked up',
    async () => {
      assert.deepEqual(await dialledIn('usual'), [])
    },
  )

  verifies('service/connections', 'of all journeys are those that the page names', async () => {
    const dialled = await dialledIn('everything')
    assert.deepEqual(strays(dialled), [])
    const seen = new Set(dialled.map((each) => rowOf[nameOf(each)]))
    const named = (await rowsOfPage()).map(([name = '']) => name)
    assert.deepEqual(named.filter((name) => !seen.has(name)).toSorted(), unmade.toSorted())
    assert.deepEqual(
      Object.values(rowOf).filter((name) => !named.includes(name)),
      [],
    )
  })

  verifies('service/connections', 'that nobody names are found', async () => {
    assert.deepEqual(strays(await dialledIn('stray')), ['telemetry.vendor.example:443'])
  })

  verifies('service/connections', 'of the page have all their settings', async () => {
    const text = await readFile(page, 'utf8')
    const names = listSettings(serverProgram.settings).map(({ name }) => name)
    const known = new Set(names)
    const written = [...text.matchAll(/`([A-Z][A-Z\d_]{3,})(?:[=…][^`]*)?`/g)].map(
      ([, name = '']) => name,
    )
    const isKnown = (name: string) =>
      known.has(name) || (name.endsWith('_') && names.some((each) => each.startsWith(name)))
    assert.deepEqual(
      written.filter((name) => !isKnown(name)),
      [],
    )
    // Settings that name an address which the server dials.
    const own = ['PUBLIC_URL', 'INTEGRATIONS_PUBLIC_URL', 'INTEGRATIONS_SERVICE_URL']
    const dials = names.filter(
      (name) => /_(URL|ENDPOINT|BACKENDS|STREAM)$/.test(name) && !own.includes(name),
    )
    const isWritten = (name: string) =>
      written.some((each) => each === name || (each.endsWith('_') && name.startsWith(each)))
    assert.deepEqual(
      dials.filter((name) => !isWritten(name)),
      [],
    )
  })

  verifies('service/connections', 'to hosts that the code names are on the page', async () => {
    const text = await readFile(page, 'utf8')
    const defaults = listSettings(serverProgram.settings).flatMap(({ default: given }) => {
      const url = URL.parse(given ?? '')
      return url && /^https?:$/.test(url.protocol) ? [url.hostname] : []
    })
    const hosts = [...defaults, ...Object.values(packageRegistries).flat()]
    assert.ok(hosts.length > 15)
    assert.deepEqual(
      hosts.filter((host) => !text.includes(`\`${host}\``)),
      [],
    )
  })
})
