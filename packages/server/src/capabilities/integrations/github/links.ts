/** Finds the addresses of pull requests in a message of an agent. */

export type PullRequestLink = { label: string; url: string }

const mostCharacters = 500

/** The forms of such addresses on GitHub, Gitea, GitLab and Bitbucket. */
const address =
  /https:\/\/([\w.-]+(?::\d{1,5})?)\/([\w.-]+(?:\/[\w.-]+){1,5}?)(?:\/-)?\/(?:pulls?|merge_requests|pull-requests)\/(\d{1,10})(?!\w)/g

/**
 * Each link once, in the order of the text. Attack: words of the text could mislead, so the label tells where the
 * address leads.
 */
export function findPullRequestLinks(text: string): PullRequestLink[] {
  const links = [...text.matchAll(address)].flatMap(([url, host, repository, number]) => {
    const prefix = host === 'github.com' ? '' : `${host}: `
    return url.length > mostCharacters ? [] : { label: `${prefix}${repository}#${number}`, url }
  })
  return [...new Map(links.map((link) => [link.url, link])).values()]
}
