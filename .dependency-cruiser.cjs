const { readdirSync } = require('node:fs')
const { join } = require('node:path')

// The house, from the ground up. A room imports from floors below its own, and from no other
// room on its floor. To let two rooms meet, lift the one that needs the other.
const packages = [
  ['base', 'mask', 'skills'],
  ['cloud'],
  ['protocol', 'sandbox', 'gate'],
  ['model', 'secret-managers'],
  ['harness', 'space'],
  ['server', 'worker'],
]
const wings = [
  ['ground'],
  ['tenants'],
  ['resources'],
  ['sessions'],
  ['engine'],
  ['capabilities'],
  ['surfaces'],
  ['start'],
  ['main.ts'],
]
/** The rooms of a wing with one floor: none imports another, so that a new room needs no line here. */
const foldersOf = (wing) =>
  readdirSync(join(__dirname, 'packages/server/src', wing), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
/** Floors within a wing; a file beside the rooms stands above them all. */
const rooms = {
  ground: [['core'], ['config', 'database', 'bus'], ['http', 'blobs'], ['health']],
  tenants: [
    ['api-keys', 'people', 'webhooks'],
    ['workspaces', 'audit', 'usage'],
    ['limits', 'members'],
    ['signin'],
  ],
  resources: [foldersOf('resources')],
  sessions: [
    ['log'],
    ['rows'],
    ['work'],
    ['stdio-servers', 'outputs', 'resources'],
    ['claimed', 'events'],
    ['threads'],
  ],
  engine: [
    ['egress', 'models'],
    ['model-gateway', 'runner'],
    ['folders', 'installs', 'memory', 'outputs', 'repositories'],
  ],
  'engine/egress': [
    ['company-secrets'],
    ['policy'],
    ['inject'],
    ['oauth', 'identity'],
    ['callers'],
  ],
  capabilities: [
    ['evals', 'integrations', 'people-data', 'replay', 'retention'],
    ['deployments', 'dreams'],
  ],
  surfaces: [
    ['otlp'],
    ['audit-stream', 'console', 'docs', 'integrations', 'metrics', 'traces'],
    ['openai'],
    ['v1'],
  ],
  start: [['root-secret', 'checks']],
}
/** Rooms that stand above the files of their wing. */
const above = { start: ['commands'] }

const test = '\\.test\\.ts$|/(contract|[\\w-]*fixture)\\.m?[jt]s$|^(conformance|bench|scripts)/'
const under = (base) => (room) => `^${base}${room.replace('.', '\\.')}(/|$)`
const lookDown = (floors, at) =>
  floors.flatMap((floor, i) =>
    floor.flatMap((room) => {
      const shut = [...floor.filter((other) => other !== room), ...floors.slice(i + 1).flat()]
      if (shut.length === 0) return []
      return [
        {
          name: `${room} looks down only`,
          severity: 'error',
          from: { path: at(room), pathNot: test },
          to: { path: shut.map(at).join('|') },
        },
      ]
    }),
  )
const inWing = (wing, floors) => {
  const base = `packages/server/src/${wing}/`
  const top = above[wing] ?? []
  const folders = [...floors.flat(), ...top].join('|')
  return [
    ...top.map((room) => ({
      name: `${wing}: nothing beside ${room} imports it, as it stands above them`,
      severity: 'error',
      from: { path: `^${base}`, pathNot: `${under(base)(room)}|${test}` },
      to: { path: under(base)(room) },
    })),
    ...lookDown(floors, under(base)),
    {
      name: `${wing}: a file beside the rooms stands above them`,
      severity: 'error',
      from: { path: `^${base}(${floors.flat().join('|')})/`, pathNot: test },
      to: { path: `^${base}[^/]+$` },
    },
    {
      name: `${wing}: every folder is a room with a floor`,
      severity: 'error',
      from: { path: `^${base}`, pathNot: `^${base}(${folders})/|^${base}[^/]+$` },
      to: {},
    },
  ]
}
/** Rooms of the console: what each may import of the others. */
const consoleRooms = {
  lib: [],
  components: ['lib'],
  features: ['lib', 'components'],
  routes: ['lib', 'components', 'features'],
}
const inConsole = Object.entries(consoleRooms).map(([room, below]) => ({
  name: `console: ${room} imports ${below.length > 0 ? below.join(', ') : 'no other room'}`,
  severity: 'error',
  from: { path: `^packages/console/src/${room}/` },
  to: {
    path: '^packages/console/src/',
    pathNot: `^packages/console/src/(${[room, ...below].join('|')})/`,
  },
}))
const only = (name, to, from) => ({
  name,
  severity: 'error',
  from: { path: '^packages/', pathNot: `${from}|${test}` },
  to: { path: to },
})

module.exports = {
  forbidden: [
    { name: 'no circle', severity: 'error', from: {}, to: { circular: true } },
    { name: 'nothing unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'what is imported is declared',
      severity: 'error',
      from: { path: '^packages/', pathNot: `${test}|^packages/console/` },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'] },
    },
    {
      name: 'the console is built: what it imports is declared for development',
      severity: 'error',
      from: { path: '^packages/console/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm'] },
    },
    {
      name: 'the console is a client: it imports no other package of the house',
      severity: 'error',
      from: { path: '^packages/console/' },
      to: { path: '^packages/(?!console/)' },
    },
    ...inConsole,
    {
      name: 'console: a component never fetches',
      severity: 'error',
      from: { path: '^packages/console/src/components/' },
      to: {
        path: '^packages/console/src/lib/api/(?!types)|node_modules/(@tanstack/react-query|openapi-fetch)/',
      },
    },
    {
      name: 'console: a feature never styles',
      severity: 'error',
      from: { path: '^packages/console/src/(features|routes)/' },
      to: { path: '\\.css$|node_modules/(@base-ui|lucide-react|cmdk)/' },
    },
    {
      name: 'console: no feature imports another',
      severity: 'error',
      from: { path: '^packages/console/src/features/([^/]+)/' },
      to: {
        path: '^packages/console/src/features/',
        pathNot: '^packages/console/src/features/$1/',
      },
    },
    ...lookDown(packages, under('packages/')),
    ...lookDown(wings, under('packages/server/src/')),
    ...Object.entries(rooms).flatMap(([wing, floors]) => inWing(wing, floors)),
    only(
      'adapters are named by start alone',
      '^packages/(server/src/ground/(database/(sqlite|postgres|per-tenant/(file|schema)-each)|bus/(memory|postgres|(nats|direct)/channel)|blobs/(disk|s3))|sandbox/src/(local|bubblewrap/bubblewrap))\\.ts$',
      'server/src/(start/|main\\.ts$|ground/database/per-tenant/|ground/bus/(postgres|(nats|direct)/[a-z]+)\\.ts$)|worker/src/(start|sandboxes)\\.ts$',
    ),
    {
      name: 'a capability is a client of sessions: the engine runs what it posts',
      severity: 'error',
      from: { path: '^packages/server/src/capabilities/', pathNot: test },
      to: { path: '^packages/server/src/engine/' },
    },
    only(
      "a vault's seal is opened by the egress alone",
      '^packages/server/src/resources/vaults/open\\.ts$',
      'server/src/(engine/egress/(egress|oauth/rows)\\.ts$|resources/vaults/)',
    ),
    only(
      'notices are published by what collects those of units',
      '^packages/server/src/ground/bus/publish-notice\\.ts$',
      'server/src/(start/data|engine/runner/late-notices)\\.ts$',
    ),
    only('routes are mounted by app.ts alone', '/routes\\.ts$', 'surfaces/(v1|openai)/app\\.ts$'),
    only('hono stays at the door', '^node_modules/(@hono|hono)/', 'server/src/ground/http/'),
    only('the model library stays behind its wall', '^node_modules/@earendil-works/', 'model/src/'),
    only(
      'the library of sign-in stays in its folder',
      'node_modules/better-auth/',
      'server/src/tenants/people/library/',
    ),
    {
      name: 'the library of sign-in is loaded by the first person who signs in',
      severity: 'error',
      from: { path: '^packages/', pathNot: `people/library/|${test}` },
      to: { path: 'people/library/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    only(
      'SQL stays in stores',
      '^node_modules/kysely/',
      'server/src/(ground/database/|.+/store\\.ts|tenants/webhooks/(outbox|deliveries|delivery-log)\\.ts|sessions/(work/claimable|log/(append|copy|head|log|thread-columns|inbox|inbox-end|inbox-changes|calls|snapshot|texts|long-texts|threads/append)|rows/\\w+)\\.ts|resources/(vaults/credentials|memory-stores/(memories|versions))\\.ts)',
    ),
    only(
      'suites and stubs stay in tests',
      '/(contract|[\\w-]*fixture|fake-model)\\.ts$|/stubs/',
      '/(contract|[\\w-]*fixture|fake-model)\\.ts$|/stubs/',
    ),
  ],
  options: {
    parser: 'tsc',
    doNotFollow: { path: 'node_modules' },
    // Programs for sandboxes: what they import lies beside them only there.
    exclude: { path: 'packages/skills/src/programs/|packages/console/dist|\\.gen\\.ts$' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs'],
    },
  },
}

// Not enumerable, as dependency-cruiser refuses fields that it does not know. scripts/house counts the floors.
Object.defineProperty(module.exports, 'rooms', { value: rooms })
