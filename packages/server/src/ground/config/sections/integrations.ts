/** Settings of integrations: the apps that this service has at each provider. */
import { httpUrl, textMatching, text } from '@steward/base/settings/kinds.ts'
import { settingsSection, setting } from '@steward/base/settings/setting.ts'

const pem = textMatching(
  'a private key in PEM, whose lines may be joined by \\n',
  /^-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+-----END [A-Z ]*PRIVATE KEY-----(?:\n|\\n)*$/,
)

const secret = textMatching('24 or more characters', /^.{24,}$/s)

export const integrationSettings = settingsSection('Integrations', {
  integrations: {
    publicUrl: setting('INTEGRATIONS_PUBLIC_URL', httpUrl, {
      defaultAbout: '`PUBLIC_URL`',
      about: 'where providers reach this service, as it is registered at each of them',
    }),
    internalSecret: setting('INTEGRATIONS_INTERNAL_SECRET', secret, {
      secret: true,
      defaultAbout: 'the server takes deliveries itself',
      about:
        'shared with the integrations process, from which alone the server then takes deliveries',
      more: 'See [A process of its own](integrations.md#a-process-of-its-own)',
    }),
    serviceUrl: setting('INTEGRATIONS_SERVICE_URL', httpUrl, {
      about: 'for the integrations process alone: where it reaches the server',
    }),
    github: {
      appId: setting('INTEGRATIONS_GITHUB_APP_ID', textMatching('a number', /^\d+$/), {
        about: 'id of the GitHub app of this service; agents then serve issues and pull requests',
        more: 'Needs the other settings of the app. See [GitHub](integrations-github.md)',
      }),
      slug: setting(
        'INTEGRATIONS_GITHUB_APP_SLUG',
        textMatching('letters, digits and -', /^[\w-]+$/),
        {
          about: 'name of that app in its URL; its bot is mentioned by it',
        },
      ),
      privateKey: setting('INTEGRATIONS_GITHUB_PRIVATE_KEY', pem, {
        secret: true,
        about: 'private key of that app',
      }),
      clientId: setting('INTEGRATIONS_GITHUB_CLIENT_ID', text, {
        about: 'client id of that app',
      }),
      clientSecret: setting('INTEGRATIONS_GITHUB_CLIENT_SECRET', text, {
        secret: true,
        about: 'client secret of that app',
      }),
      webhookSecret: setting('INTEGRATIONS_GITHUB_WEBHOOK_SECRET', secret, {
        secret: true,
        about: 'secret that signs the deliveries of that app',
      }),
      url: setting('INTEGRATIONS_GITHUB_URL', httpUrl, {
        default: 'https://github.com',
        about: 'where people see GitHub',
        more: 'For GitHub Enterprise Server, its own address',
      }),
      apiUrl: setting('INTEGRATIONS_GITHUB_API_URL', httpUrl, {
        default: 'https://api.github.com',
        about: "base of GitHub's interface",
      }),
    },
    linear: {
      clientId: setting('INTEGRATIONS_LINEAR_CLIENT_ID', text, {
        about: 'client id of the Linear app of this service; agents then work on issues',
        more: 'Needs the other settings of the app. See [Linear](integrations-linear.md)',
      }),
      clientSecret: setting('INTEGRATIONS_LINEAR_CLIENT_SECRET', text, {
        secret: true,
        about: 'client secret of that app',
      }),
      webhookSecret: setting('INTEGRATIONS_LINEAR_WEBHOOK_SECRET', secret, {
        secret: true,
        about: 'secret that signs the deliveries of that app',
      }),
      url: setting('INTEGRATIONS_LINEAR_URL', httpUrl, {
        default: 'https://linear.app',
        about: 'where people see Linear',
      }),
      apiUrl: setting('INTEGRATIONS_LINEAR_API_URL', httpUrl, {
        default: 'https://api.linear.app',
        about: "base of Linear's interface",
      }),
    },
    slack: {
      clientId: setting('INTEGRATIONS_SLACK_CLIENT_ID', text, {
        about:
          'client id of the Slack app of this service; agents then answer mentions and messages',
        more: 'Needs the other settings of the app. See [Slack](integrations-slack.md)',
      }),
      clientSecret: setting('INTEGRATIONS_SLACK_CLIENT_SECRET', text, {
        secret: true,
        about: 'client secret of that app',
      }),
      signingSecret: setting('INTEGRATIONS_SLACK_SIGNING_SECRET', secret, {
        secret: true,
        about: 'secret that signs the deliveries of that app',
      }),
      appToken: setting('INTEGRATIONS_SLACK_APP_TOKEN', textMatching('xapp-…', /^xapp-[\w-]+$/), {
        secret: true,
        defaultAbout: 'Slack posts to the service',
        about:
          'token of that app for a socket, by which deliveries come where Slack cannot reach the service',
      }),
      url: setting('INTEGRATIONS_SLACK_URL', httpUrl, {
        default: 'https://slack.com',
        about: 'where people see Slack',
      }),
      apiUrl: setting('INTEGRATIONS_SLACK_API_URL', httpUrl, {
        default: 'https://slack.com/api',
        about: "base of Slack's interface",
      }),
    },
  },
})
