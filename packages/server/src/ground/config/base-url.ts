import type { Config } from './config.ts'

/** Where people reach the server that listens on this port. */
export const baseUrl = (
  { publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>,
  port: number,
): string => (publicUrl === undefined ? `http://${host}:${port}` : new URL(publicUrl).origin)
