import type { Config } from './config.ts'

/** The origin under which people reach the server: PUBLIC_URL, or host and port. */
export const baseUrl = (
  { publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>,
  port: number,
): string => (publicUrl === undefined ? `http://${host}:${port}` : new URL(publicUrl).origin)
