import { toUrlHost } from '@steward/base/url-host.ts'
import type { Config } from './config.ts'

/** Addresses that listen everywhere. No browser can open them. */
const everywhere = ['0.0.0.0', '::']

/** A host as it stands in a URL that people open. */
function openedHost(host: string): string {
  if (everywhere.includes(host)) return 'localhost'
  return toUrlHost(host)
}

/** The path at which people reach the server, which a proxy takes away: that of PUBLIC_URL, without a slash at its end. */
export const basePath = (publicUrl: string | undefined): string =>
  publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')

/** The address at which people reach the server, without a slash at its end: PUBLIC_URL, or host and port. */
export const baseUrl = (
  { publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>,
  port: number,
): string =>
  publicUrl === undefined
    ? `http://${openedHost(host)}:${port}`
    : `${new URL(publicUrl).origin}${basePath(publicUrl)}`
