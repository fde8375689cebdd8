import { describe, expect, it } from '@jest/globals';
import { ConfigInvalid } from '@recourse/config';
import { adaptersIn, withoutStackVariables } from './adapters.js';
import { topicSpecs } from './provision.js';

function problemsOf(
  value: string,
): readonly { readonly code: string; readonly variable: string; readonly message: string }[] {
  try {
    adaptersIn({ RECOURSE_ADAPTERS: value });
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.problems;
    throw error;
  }
  return [];
}

describe('the adapters of a stack', () => {
  it('are those that are named, and payments when none is', () => {
    expect(adaptersIn({})).toEqual(['payments']);
    expect(adaptersIn({ RECOURSE_ADAPTERS: 'mail, crm,git-hub2' })).toEqual(['mail', 'crm', 'git-hub2']);
  });

  it.each(['Mail', 'mail,', 'mail.send', '-mail', '9mail', 'mail crm', 'git_hub', 'a'.repeat(64), '../mail'])(
    'are refused at start with a code when one is named %j',
    (value) => {
      expect(problemsOf(value)).toMatchObject([{ code: 'INVALID', variable: 'RECOURSE_ADAPTERS' }]);
    },
  );

  it('says every name that does not fit, and what stands there twice', () => {
    const [problem] = problemsOf('Mail,crm,crm,x y');
    expect(problem?.message).toContain('"Mail" is no such name; "x y" is no such name; "crm" stands there twice');
  });

  it('are kept from the services with what a shell tells the command line: neither its token nor its stack is theirs', () => {
    const shell = { RECOURSE_DATA_DIR: '/data', RECOURSE_TOKEN: 'secret', RECOURSE_TENANT: 'demo', HOME: '/' };
    expect(withoutStackVariables(shell)).toEqual({ HOME: '/' });
  });

  it('read nothing else, and are kept from the programs on top, which would call them unknown', () => {
    expect(adaptersIn({ RECOURSE_TOKEN: 'x' })).toEqual(['payments']);
    expect(withoutStackVariables({ RECOURSE_ADAPTERS: 'mail', RECOURSE_LOG_LEVEL: 'info', HOME: '/' })).toEqual({
      RECOURSE_LOG_LEVEL: 'info',
      HOME: '/',
    });
  });
});

describe('the topics of a stack', () => {
  const requests = (adapters: readonly string[]): readonly object[] =>
    topicSpecs(3, adapters).filter(({ name }) => name.startsWith('recourse.tool-requests.'));

  it('are one per adapter, alike but for their names', () => {
    const [payments, mail, crm] = requests(['mail', 'crm']);
    expect(payments).toMatchObject({ name: 'recourse.tool-requests.payments', partitions: 3 });
    expect(mail).toEqual({ ...payments, name: 'recourse.tool-requests.mail' });
    expect(crm).toEqual({ ...payments, name: 'recourse.tool-requests.crm' });
  });

  it('are those of the catalogue when nothing is asked for, once each', () => {
    expect(requests(['payments'])).toHaveLength(1);
    expect(
      topicSpecs(2, ['payments', 'mail'])
        .map(({ name }) => name)
        .filter((name, at, all) => all.indexOf(name) !== at),
    ).toEqual([]);
  });
});
