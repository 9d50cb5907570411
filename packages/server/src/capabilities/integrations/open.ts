import { baseUrl } from '../../ground/config/base-url.ts'
import type { Config } from '../../ground/config/config.ts'
import type { Connector, Namer } from '../../ground/core/security/dial.ts'
import { Agent } from '../../ground/core/security/undici.ts'
import type { Apps } from './installations/apps.ts'
import { createApps } from './installations/apps.ts'
import type { Download, Send, Upload } from './answers/send.ts'
import { createProviderSender } from './answers/send.ts'
import type { SlackSocket } from './slack/socket.ts'

/** The parts that routes and jobs of integrations share. Close them after routes and jobs have stopped. */
export type OpenIntegrations = {
  apps: Apps
  /**
   * `send` sends to addresses that tenants name. The functions for the provider send to addresses that the operator
   * names.
   */
  send: Send
  sendToProvider: Send
  downloadFromProvider: Download
  uploadToProvider: Upload
  publicUrl: string | undefined
  /** The address of a session in the console. Absent without PUBLIC_URL. */
  linkOf?: (session: string) => string
  /**
   * The secret of the integrations process. With a secret, deliveries come only through that process. SECRET: never
   * logged.
   */
  internalSecret: string | undefined
  /** Undefined when Slack reaches the service itself. */
  slackSocket: SlackSocket | undefined
  close: () => Promise<void>
}

/** The longest answer of a provider, enough for a hundred long comments. */
const ofProviders = 8 * 1024 * 1024

export function openIntegrations(
  config: Config,
  diallers: { [whose in Namer]: { connect: Connector<whose> } },
): OpenIntegrations {
  const { integrations, publicUrl } = config
  const [ofTenants, ofOperator] = [
    createProviderSender(diallers.tenant.connect),
    createProviderSender(diallers.operator.connect, { answerBytes: ofProviders }),
  ]
  const { apiUrl, appToken } = integrations.slack
  const dispatcher = new Agent({ connect: diallers.operator.connect })
  const open = async (url: string) => {
    const { WebSocket } = await import('undici')
    return new WebSocket(url, { dispatcher })
  }
  return {
    slackSocket: appToken === undefined ? undefined : { apiUrl, appToken, open },
    apps: createApps(integrations),
    send: ofTenants.send,
    sendToProvider: ofOperator.send,
    downloadFromProvider: ofOperator.download,
    uploadToProvider: ofOperator.upload,
    publicUrl: integrations.publicUrl ?? publicUrl,
    ...(publicUrl !== undefined && {
      linkOf: (session: string) => `${baseUrl(config, config.port)}/console/sessions/${session}`,
    }),
    internalSecret: integrations.internalSecret,
    async close() {
      await Promise.all([ofTenants.close(), ofOperator.close(), dispatcher.destroy()])
    },
  }
}
