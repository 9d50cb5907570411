/** The chart in deploy/helm, rendered by Go's templates with the functions of Helm. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

const folder = fileURLToPath(new URL('../../deploy/helm', import.meta.url))
const program = fileURLToPath(new URL('render-chart.go', import.meta.url))
/** Where Debian puts the sources of Go packages. */
const goPath = '/usr/share/gocode'
const packages = {
  'github.com/Masterminds/sprig': 'golang-github-masterminds-sprig-dev',
  'sigs.k8s.io/yaml': 'golang-k8s-sigs-yaml-dev',
}

const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const Tree = z.record(z.string(), z.unknown())
export type Values = z.infer<typeof Tree>

export const chart = z
  .looseObject({ name: z.string(), version: z.string(), appVersion: z.string() })
  .parse(parse(read('Chart.yaml')))
export const readDefaults = (): Values => Tree.parse(parse(read('values.yaml')))

/** As Helm lays given values over those of the chart. */
function mergeValues(below: Values, above: Values): Values {
  const merged = { ...below }
  for (const [name, value] of Object.entries(above)) {
    const under = merged[name]
    merged[name] = isTree(under) && isTree(value) ? mergeValues(under, value) : value
  }
  return merged
}

const schema = Tree.parse(JSON.parse(read('values.schema.json')))
const readsValues = new Ajv({ strict: true, allowUnionTypes: true, strictTypes: false }).compile(
  schema,
)

/** What values.schema.json says against values; undefined where they are right. */
export const refuseValues = (given: Values): string | undefined => {
  if (readsValues(mergeValues(readDefaults(), given))) return undefined
  return (readsValues.errors ?? [])
    .map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
    .join(', ')
}

function buildRenderer(path: string): void {
  for (const [name, debian] of Object.entries(packages))
    if (!existsSync(join(goPath, 'src', name)))
      throw new Error(`${name} is missing: apt-get install golang-go ${debian}`)
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: goPath }
  execFileSync('/usr/bin/go', ['build', '-o', path, program], { env, stdio: 'inherit' })
}

/** The renderer, which is built once. `close` removes it. */
export function chartRenderer() {
  const made = mkdtempSync(join(tmpdir(), 'steward-chart-'))
  const binary = join(made, 'render')
  buildRenderer(binary)
  const templates = Object.fromEntries(
    globSync('templates/*', { cwd: folder })
      .toSorted()
      .map((path) => [path, read(path)]),
  )

  /** The texts of the templates by their names. Throws with what the chart says against the values. */
  function renderTexts(given: Values): Record<string, string> {
    const data = {
      Values: mergeValues(readDefaults(), given),
      Release: { Name: 'steward', Namespace: 'steward', Service: 'Helm' },
      Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    }
    const input = JSON.stringify({ templates, data })
    const { status, stdout, stderr } = spawnSync(binary, { input, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr.trim())
    return z.record(z.string(), z.string()).parse(JSON.parse(stdout))
  }

  return {
    renderTexts,
    /** The objects that the values make, as they are read from YAML. */
    renderObjects(given: Values): unknown[] {
      const { 'templates/NOTES.txt': _, ...manifests } = renderTexts(given)
      return Object.values(manifests).flatMap(readDocuments)
    },
    close: () => rmSync(made, { recursive: true, force: true }),
  }
}

/** A key that stands twice is refused. */
export function readDocuments(text: string): unknown[] {
  return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => {
    const [error] = document.errors
    if (error) throw error
    const value: unknown = document.toJS()
    return value === null ? [] : [value]
  })
}

/** The manifests that the default values make, as one file. */
export function plainManifests(render: (given: Values) => Record<string, string>): string {
  const { 'templates/NOTES.txt': _, ...manifests } = render({})
  const parts = Object.entries(manifests)
    .filter(([, text]) => text.trim() !== '')
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([path, text]) => `---\n# Source: ${basename(path)}\n${text.trim()}\n`)
  const head = `# The chart in deploy/helm with its default values. node scripts/manifests.ts writes this file.\n# It needs the Secret steward: docs/kubernetes.md has the command.\n`
  return head + parts.join('')
}
