/** The views of a skill, as its address names them. */
export const skillTabs = ['files', 'versions'] as const
