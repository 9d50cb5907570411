/** Calls to GitHub's interface, as all parts of the integration make them. */

export const githubHeaders = {
  accept: 'application/vnd.github+json',
  'content-type': 'application/json',
  'x-github-api-version': '2022-11-28',
}

export const buildGet = (path: string) =>
  ({ method: 'GET', path, headers: githubHeaders, body: null }) as const
