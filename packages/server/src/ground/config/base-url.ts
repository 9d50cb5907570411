import type { Config } from './config.ts'

/** Addresses that listen everywhere. No browser can open them. */
const everywhere = ['0.0.0.0', '::']

/** A host as it stands in a URL that people open. */
function openedHost(host: string): string {
  if (everywhere.includes(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** The origin under which people reach the server: PUBLIC_URL, or host and port. */
export const baseUrl = (
  { publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>,
  port: number,
): string =>
  publicUrl === undefined ? `http://${openedHost(host)}:${port}` : new URL(publicUrl).origin
