/** Command line programs of known services: their hosts, and the form in which each host takes a token. */

/**
 * `bearer` and `token`: the word before the token in Authorization. `basic`: the token is the password of
 * `x-access-token`.
 */
export type CliHost = { host: string; form: 'bearer' | 'token' | 'basic' }

export type Cli = {
  hosts: readonly CliHost[]
  /**
   * The variable in which the program looks for a token. In the sandbox it holds a placeholder, so that the program
   * considers itself signed in.
   */
  variable: string
}

export const knownClis: Readonly<Record<string, Cli>> = {
  gh: {
    hosts: [
      { host: 'api.github.com', form: 'bearer' },
      { host: 'uploads.github.com', form: 'bearer' },
      { host: 'github.com', form: 'basic' },
      { host: 'gist.github.com', form: 'basic' },
    ],
    variable: 'GH_TOKEN',
  },
  glab: { hosts: [{ host: 'gitlab.com', form: 'bearer' }], variable: 'GITLAB_TOKEN' },
  hf: { hosts: [{ host: 'huggingface.co', form: 'bearer' }], variable: 'HF_TOKEN' },
  npm: { hosts: [{ host: 'registry.npmjs.org', form: 'bearer' }], variable: 'NPM_TOKEN' },
  vercel: { hosts: [{ host: 'api.vercel.com', form: 'bearer' }], variable: 'VERCEL_TOKEN' },
}
