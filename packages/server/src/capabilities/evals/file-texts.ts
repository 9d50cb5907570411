/** Replaces file ids by the texts of the files, so that a run measures the same after the files are deleted. */
import type { Grader } from '@steward/protocol/graders.ts'
import { mostRubric } from '@steward/protocol/outcomes.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import { mostFile, mostSample } from '@steward/protocol/samples.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { TextFileSource } from '../../resources/files/text.ts'
import { textOfFile } from '../../resources/files/text.ts'

/** Bound of the texts of files in one request, as for a body that contains them. */
const mostCharacters = 32 * 1024 * 1024

type EvalTexts = { samples?: readonly Sample[] | null; graders?: readonly Grader[] | null }
type TextField = { at: string; what: string; most: number }

export async function withFileTexts<Body extends EvalTexts>(
  source: TextFileSource,
  body: Body,
): Promise<Body & { samples?: Sample[]; graders?: Grader[] }> {
  let characters = 0
  async function text(id: string, field: TextField): Promise<string> {
    const found = await textOfFile(source, id, field)
    characters += found.length
    if (characters > mostCharacters)
      throw invalid(`${field.at}: the files of a request have ${mostCharacters} characters at most`)
    return found
  }

  async function graded(graders: readonly Grader[], at: string): Promise<Grader[]> {
    const whole: Grader[] = []
    for (const [index, grader] of graders.entries()) {
      if (grader.type !== 'rubric' || grader.file_id === undefined) {
        whole.push(grader)
        continue
      }
      const { file_id, ...rest } = grader
      const field = { at: `${at}.${index}.file_id`, what: 'a rubric', most: mostRubric }
      whole.push({ ...rest, content: await text(file_id, field) })
    }
    return whole
  }

  async function filed(sample: Sample, at: string): Promise<Sample> {
    const files: NonNullable<Sample['files']> = []
    for (const [index, { path, content, file_id = '' }] of (sample.files ?? []).entries()) {
      const field = { at: `${at}.files.${index}.file_id`, what: 'a file', most: mostFile }
      files.push({ path, content: content ?? (await text(file_id, field)) })
    }
    const graders = sample.graders && (await graded(sample.graders, `${at}.graders`))
    const whole = { ...sample, ...(sample.files && { files }), ...(graders && { graders }) }
    if (JSON.stringify(whole).length > mostSample)
      throw invalid(`${at}: may have ${mostSample} characters as JSON, with the texts of its files`)
    return whole
  }

  const { graders } = body
  const samples: Sample[] = []
  for (const [index, sample] of (body.samples ?? []).entries())
    samples.push(namesFiles(sample) ? await filed(sample, `samples.${index}`) : sample)
  return {
    ...body,
    ...(body.samples && { samples }),
    ...(graders && { graders: await graded(graders, 'graders') }),
  }
}

const namesFiles = ({ files, graders }: Sample): boolean =>
  [...(files ?? []), ...(graders ?? [])].some((each) => 'file_id' in each)
