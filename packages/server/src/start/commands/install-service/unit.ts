/** The systemd unit of a server, and its settings. docs/production.md shows both. */
import { randomBytes } from 'node:crypto'

export const account = 'steward'
export const dataFolder = '/srv/steward'
export const settingsFile = '/etc/steward/steward.env'
export const unitFile = '/etc/systemd/system/steward.service'
/** Subordinate ids of the account: each session has a user of its own. */
export const subordinateIds = '1000000-1065535'

/** A word of a command line in a unit, in which a space, a quote, `%` and `$` have meanings of their own. */
export function quoteForUnit(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /[\s"'\\]/.test(word) ? `"${escaped.replaceAll(/["\\]/g, '\\$&')}"` : escaped
}

export type UnitProgram = {
  /** The command line that starts the server. */
  start: string
  /** Of a clone. Undefined where the command line needs none. */
  workingFolder?: string | undefined
}

export const unitText = ({ start, workingFolder }: UnitProgram): string => `[Unit]
Description=Steward
After=network-online.target
Wants=network-online.target

[Service]
User=${account}
${workingFolder === undefined ? '' : `WorkingDirectory=${workingFolder}\n`}CacheDirectory=steward
EnvironmentFile=${settingsFile}
Environment=MALLOC_TRIM_THRESHOLD_=1048576
ExecStart=${start}
Restart=always
# Longer than RUNNER_STOP_SECONDS (20): running tool calls end first.
TimeoutStopSec=60
KillMode=mixed
# Lets the server make control groups, which limit the memory of sandboxes.
Delegate=yes
LimitNOFILE=65536
LimitNPROC=infinity
TasksMax=infinity
# All other folders are read-only. Add SANDBOX_DIR, and the folder of blobs, where they lie elsewhere.
ProtectSystem=strict
ReadWritePaths=${dataFolder}
ProtectHome=yes
PrivateTmp=yes
DevicePolicy=closed
# newuidmap needs these, to give each session a user of its own. The server itself has none.
CapabilityBoundingSet=CAP_SETUID CAP_SETGID CAP_DAC_OVERRIDE CAP_SYS_ADMIN

[Install]
WantedBy=multi-user.target
`

const random = (): string => randomBytes(32).toString('hex')

/** With new secrets. */
export const settingsText = (publicUrl: string): string => `PLATFORM_ROOT_SECRET=${random()}
API_KEY=stw_key_${random()}
DATA_DIR=${dataFolder}
PUBLIC_URL=${publicUrl}
SANDBOX_LIMITS=required
SANDBOX_USERS=required
NODE_COMPILE_CACHE=/var/cache/steward
`
