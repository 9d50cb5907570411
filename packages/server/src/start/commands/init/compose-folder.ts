/** The folder that `docker compose up` needs: compose.yaml, seccomp.json, .env, secrets, and a file for the operator's own changes. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlannedFile, PlannedFolder } from '../planned-files.ts'
import { readIfThere } from '../planned-files.ts'

export type ComposeOptions = {
  folder: string
  domain: string
  /** True: live words go over NATS. */
  hasBus: boolean
  /** True: compose.yaml and seccomp.json become those of this version. */
  isUpgrade: boolean
}

const shipped = (name: string): string =>
  readFileSync(new URL(`../../../../../../deploy/${name}`, import.meta.url), 'utf8')

const random = (prefix = ''): string => prefix + randomBytes(32).toString('hex')

/** Each is made once, and kept. */
const made = {
  'root-secret': () => random(),
  'api-key': () => random('stw_key_'),
  'database-password': () => random(),
  'bucket-key': () => random(),
  'bus-password': () => random(),
}
type Secrets = Record<keyof typeof made, string>

const bucketUser = 'steward'

/** Secrets in the forms in which programs read them. */
const derived = (secrets: Secrets): Record<string, string> => ({
  'database-url': `postgres://steward:${secrets['database-password']}@database:5432/steward`,
  'bucket-identities': JSON.stringify({
    identities: [
      {
        name: bucketUser,
        credentials: [{ accessKey: bucketUser, secretKey: secrets['bucket-key'] }],
        actions: ['Admin', 'Read', 'Write', 'List', 'Tagging'],
      },
    ],
  }),
  'store-backends': JSON.stringify({
    blobs: {
      type: 's3',
      endpoint: 'http://bucket:8333',
      bucket: 'steward',
      region: 'us-east-1',
      access_key_id: bucketUser,
      secret_access_key: secrets['bucket-key'],
    },
  }),
  'bus-config': `authorization { user: steward, password: "${secrets['bus-password']}" }`,
  'bus-url': `nats://steward:${secrets['bus-password']}@bus:4222`,
})

/** Of .env, for live words over NATS. */
export const busLines = 'COMPOSE_PROFILES=nats\nSTEWARD_BUS_URL_FILE=/run/secrets/bus-url\n'

const environmentText = ({ domain, hasBus }: ComposeOptions): string =>
  `# Read by docker compose. No secret is here: secrets are below secrets/.
COMPOSE_PROJECT_NAME=steward
STEWARD_DOMAIN=${domain}
${hasBus ? busLines : ''}`

/**
 * Secrets are read by containers whose users differ from the operator's, so that the files are open to all and their
 * folder to the operator alone. A container gets the file by a mount of its own.
 */
const secretMode = { folder: 0o700, file: 0o644 }

export function planComposeFolder(options: ComposeOptions): {
  folders: PlannedFolder[]
  files: PlannedFile[]
} {
  const { folder, isUpgrade } = options
  const secretFolder = join(folder, 'secrets')
  const known = (name: keyof typeof made): string =>
    readIfThere(join(secretFolder, name))?.trim() || made[name]()
  const secrets: Secrets = {
    'root-secret': known('root-secret'),
    'api-key': known('api-key'),
    'database-password': known('database-password'),
    'bucket-key': known('bucket-key'),
    'bus-password': known('bus-password'),
  }
  const secretFiles = Object.entries({ ...secrets, ...derived(secrets) }).map(([name, text]) => ({
    path: join(secretFolder, name),
    text: `${text}\n`,
    mode: secretMode.file,
  }))
  return {
    folders: [
      { path: folder, mode: 0o755 },
      { path: secretFolder, mode: secretMode.folder },
    ],
    files: [
      ...secretFiles,
      { path: join(folder, '.env'), text: environmentText(options), mode: 0o600 },
      {
        path: join(folder, 'compose.yaml'),
        text: shipped('compose/compose.yaml'),
        mode: 0o644,
        isReplaced: isUpgrade,
      },
      {
        path: join(folder, 'seccomp.json'),
        text: shipped('seccomp.json'),
        mode: 0o644,
        isReplaced: isUpgrade,
      },
      {
        path: join(folder, 'compose.override.yaml'),
        text: shipped('compose/compose.override.yaml'),
        mode: 0o644,
      },
    ],
  }
}
