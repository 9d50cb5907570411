// The house, from the ground up. A room imports from floors below its own, and from no other
// room on its floor. To let two rooms meet, lift the one that needs the other.
const packages = [
  ['mask'],
  ['protocol', 'model', 'sandbox', 'gate'],
  ['harness'],
  ['server', 'worker'],
]
const rooms = [
  ['core', 'settings.ts'],
  ['bus', 'database', 'http', 'config.ts'],
  ['webhooks', 'health'],
  ['audit', 'blobs'],
  [
    'events',
    'api-keys',
    'environments',
    'agents',
    'model-cards',
    'vaults',
    'checkpoints',
    'files',
    'memory-stores',
    'skills',
  ],
  ['work'],
  ['stdio-servers'],
  ['models', 'sessions', 'workspaces'],
  ['egress', 'root-secret'],
  ['model-gateway'],
  ['runner', 'app.ts'],
  ['repositories', 'packages', 'outputs', 'memory'],
  ['start'],
  ['start.ts'],
  ['main.ts'],
]

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
      from: { path: '^packages/', pathNot: test },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'] },
    },
    ...lookDown(packages, under('packages/')),
    ...lookDown(rooms, under('packages/server/src/')),
    only(
      'adapters are named by start alone',
      '^packages/(server/src/(database/(sqlite|postgres)|bus/(memory|postgres)|blobs/(disk|s3))|sandbox/src/(local|bubblewrap/bubblewrap))\\.ts$',
      '/src/(start|main)\\.ts$|server/src/start/|server/src/bus/postgres\\.ts$|worker/src/sandboxes\\.ts$',
    ),
    only(
      "a vault's seal is opened by the egress alone",
      '^packages/server/src/vaults/open\\.ts$',
      'server/src/(egress|vaults)/',
    ),
    only('routes are mounted by app.ts alone', '/routes\\.ts$', '/src/app\\.ts$'),
    only('hono stays at the door', '^node_modules/(@hono|hono)/', 'server/src/http/'),
    only('the model library stays behind its wall', '^node_modules/@earendil-works/', 'model/src/'),
    only(
      'SQL stays in stores',
      '^node_modules/kysely/',
      'server/src/(database/|[^/]+/store\\.ts|webhooks/(outbox|deliveries|log)\\.ts|events/(head|log|weighed|inbox|calls)\\.ts|vaults/credentials\\.ts|memory-stores/(memories|versions)\\.ts)',
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
    exclude: { path: 'server/src/skills/builtin/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs'],
    },
  },
}
