/** News of changed limits, from an operator's command to the running servers. */
import { unwatchFile, watchFile } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bus } from '../ground/bus/bus.ts'
import { missedMessage } from '../ground/bus/bus.ts'
import { postgresChannel } from '../ground/bus/postgres.ts'
import type { Config } from '../ground/config/config.ts'
import { limitsTopic } from '../tenants/limits/limits-cache.ts'

/** On SQLite the command is another process than the server, and only files connect the two. */
type LimitChangeConfig = Pick<Config, 'dataDir' | 'databaseUrl' | 'databaseLimits'>

const fileOf = ({ dataDir }: LimitChangeConfig): string => join(dataDir, 'limits-changed')
const lookMs = 500

export async function announceLimits(config: LimitChangeConfig, tenant: string): Promise<void> {
  if (!config.databaseUrl) return writeFile(fileOf(config), `${Date.now()}\n`)
  const channel = await postgresChannel(config.databaseUrl, config.databaseLimits)
  channel.publish(limitsTopic, { tenant })
  await channel.close()
}

export function watchLimits(config: LimitChangeConfig, bus: Bus): { close(): Promise<void> } {
  if (config.databaseUrl) return { close: async () => {} }
  const path = fileOf(config)
  const tell = () => bus.publish(limitsTopic, missedMessage)
  watchFile(path, { interval: lookMs, persistent: false }, tell)
  return { close: async () => unwatchFile(path, tell) }
}
