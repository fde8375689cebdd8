// What the subject of a commit has to look like. Pure.

const SUBJECT_MAX = 72;
/** Words that open a description of what is so, where the subject has to say what the commit does. */
const NO_VERBS = new Set(
  'a an the this that these those it its he she they we you i his her their our your each every no any some all both many few more most other what when where who how why if as at by for from in of on to with without and or but not now there here'.split(
    ' ',
  ),
);
/** Imperatives that look like another form: of a verb in the past, in progress or of somebody else. */
const IMPERATIVES = new Set(
  'address access assess bless bring bypass cross compress cling dismiss discuss embed exceed express feed fling focus guess heed impress need pass possess press process proceed progress redress ring seed shed sing speed spring sting string stress succeed suppress swing toss weed witness wring'.split(
    ' ',
  ),
);
/** Git writes these itself, or takes them away again. */
const BY_GIT = /^(Merge |Revert "|Reapply "|fixup! |squash! |amend! )/;

/**
 * Says what is wrong with a commit's subject: its first line, without git's comments.
 *
 * @param {string} message
 * @returns {readonly string[]} problems, none for a good one
 */
export function subjectProblems(message) {
  const subject = message.split('\n').find((line) => !line.startsWith('#')) ?? '';
  if (BY_GIT.test(subject)) return [];
  if (subject.trim() === '') return ['The subject is empty.'];
  const first = subject.split(/[\s:]/, 1)[0];
  return [
    ...(subject.length > SUBJECT_MAX
      ? [`The subject has ${subject.length} characters; ${SUBJECT_MAX} are shown. Move the rest into the body.`]
      : []),
    ...(/^\p{Lu}/u.test(subject) ? [] : ['The subject begins with a capital letter.']),
    ...(subject.endsWith('.') ? ['The subject ends without a full stop.'] : []),
    ...(looksImperative(first)
      ? []
      : [`"${first}" does not say what the commit does. Begin with a verb in the imperative: "Add …", "Stop …".`]),
  ];
}

function looksImperative(word) {
  const lower = word.toLowerCase();
  if (IMPERATIVES.has(lower)) return true;
  return !NO_VERBS.has(lower) && !/(ed|ing|s)$/.test(lower);
}
