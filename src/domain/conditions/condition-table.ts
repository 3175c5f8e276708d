import type { DocumentLanguage } from '../document-language.ts';

type Texts = Readonly<Record<DocumentLanguage, string>>;

/** `error`: something does not happen until somebody acts. `warning`: it may soon. `notice`: worth a look. */
export const SEVERITIES = ['error', 'warning', 'notice'] as const;
export type Severity = (typeof SEVERITIES)[number];

interface ConditionRow {
  readonly severity: Severity;
  /**
   * Whom it concerns: a tenant in an environment, or the operators of the installation. Some conditions concern both.
   */
  readonly of: readonly ('tenant' | 'installation')[];
  /** Its name, which is also used in front of a number. */
  readonly says: Texts;
  /** What to do. */
  readonly advice: Texts;
  /** The page of the workspace that shows it; null if there is none. */
  readonly page: string | null;
}

/**
 * What may be wrong, in the order in which it is shown (docs/decisions/0092).
 */
export const CONDITIONS = {
  workers_missing: {
    severity: 'error',
    of: ['installation'],
    says: { fr: 'Aucun processus de traitement ne tourne', ar: 'لا تعمل أي عملية معالجة', en: 'No worker runs' },
    advice: {
      fr: 'Démarrez un processus de traitement : tout le travail en file attend.',
      ar: 'شغّلوا عملية معالجة: كل ما في صفوف الانتظار ينتظر.',
      en: 'Start a worker: all queued work waits.',
    },
    page: null,
  },
  authority_away: {
    severity: 'error',
    of: ['installation', 'tenant'],
    says: {
      fr: 'L’administration fiscale ne répond pas',
      ar: 'الإدارة الضريبية لا تجيب',
      en: 'The tax authority does not answer',
    },
    advice: {
      fr: 'Le service réessaie ; rien n’est perdu.',
      ar: 'يعيد النظام المحاولة؛ ولا يضيع شيء.',
      en: 'The service tries again; nothing is lost.',
    },
    page: null,
  },
  authority_paused: {
    severity: 'warning',
    of: ['installation', 'tenant'],
    says: {
      fr: 'L’envoi à l’administration fiscale est suspendu',
      ar: 'الإرسال إلى الإدارة الضريبية متوقف',
      en: 'Transmission to the tax authority is paused',
    },
    advice: {
      fr: 'Les factures de production attendent que l’opérateur le reprenne.',
      ar: 'تنتظر فواتير الإنتاج أن يستأنفه المشغل.',
      en: 'Live invoices wait until an operator resumes it.',
    },
    page: null,
  },
  invoices_stuck: {
    severity: 'error',
    of: ['installation'],
    says: {
      fr: 'Factures dont le traitement n’avance pas',
      ar: 'فواتير لا تتقدم معالجتها',
      en: 'Invoices that make no progress',
    },
    advice: {
      fr: 'Lisez la raison de chacune : « invoices attention » les liste.',
      ar: 'اقرؤوا سبب كل واحدة: يعرضها الأمر invoices attention.',
      en: 'Read why: `invoices attention` lists each with its reason.',
    },
    page: null,
  },
  invoices_rejected: {
    severity: 'error',
    of: ['tenant'],
    says: { fr: 'Rejetées, pas encore corrigées', ar: 'مرفوضة ولم تصحح بعد', en: 'Rejected, not corrected yet' },
    advice: {
      fr: 'Ouvrez chaque facture pour lire pourquoi, et remplacez-la.',
      ar: 'افتحوا كل فاتورة لقراءة السبب ثم عوضوها.',
      en: 'Open each to read why, and replace it.',
    },
    page: 'invoices?status=rejected',
  },
  invoices_waiting: {
    severity: 'warning',
    of: ['tenant'],
    says: {
      fr: 'En attente depuis dix minutes ou plus',
      ar: 'تنتظر منذ عشر دقائق أو أكثر',
      en: 'Waiting for ten minutes or more',
    },
    advice: {
      fr: 'Rien n’est perdu : ne les envoyez pas une seconde fois.',
      ar: 'لا يضيع شيء: لا ترسلوها مرة ثانية.',
      en: 'Nothing is lost: do not send them again.',
    },
    page: 'invoices',
  },
  endpoints_failing: {
    severity: 'error',
    of: ['tenant', 'installation'],
    says: {
      fr: 'Destinations de webhooks en échec',
      ar: 'نقاط استقبال webhook متعثرة',
      en: 'Failing webhook endpoints',
    },
    advice: {
      fr: 'Rétablissez le serveur, puis relancez les envois ; ou désactivez la destination.',
      ar: 'أصلحوا الخادم ثم كرروا عمليات الإرسال، أو عطلوا نقطة الاستقبال.',
      en: 'Mend the server, then send again; or disable the endpoint.',
    },
    page: 'endpoints',
  },
  calls_throttled: {
    severity: 'warning',
    of: ['tenant'],
    says: {
      fr: 'Appels refusés parce que trop nombreux',
      ar: 'طلبات رفضت لكثرتها',
      en: 'Calls refused because there were too many',
    },
    advice: {
      fr: 'Espacez les appels comme le dit Retry-After.',
      ar: 'باعدوا بين الطلبات كما يقول Retry-After.',
      en: 'Space the calls as Retry-After says.',
    },
    page: 'requests',
  },
  calls_failing: {
    severity: 'warning',
    of: ['tenant'],
    says: { fr: 'Appels en échec aujourd’hui', ar: 'طلبات فاشلة اليوم', en: 'Calls that failed today' },
    advice: {
      fr: 'Le journal des appels groupe les erreurs par sorte.',
      ar: 'يجمع سجل الطلبات الأخطاء حسب نوعها.',
      en: 'The log of requests groups the errors by kind.',
    },
    page: 'requests',
  },
  certificate_ending: {
    severity: 'warning',
    of: ['tenant', 'installation'],
    says: {
      fr: 'Fin du certificat de signature',
      ar: 'نهاية شهادة التوقيع',
      en: 'Signing certificate ends',
    },
    advice: {
      fr: 'Faites émettre un nouveau certificat : cela prend des semaines.',
      ar: 'اطلبوا شهادة جديدة: يستغرق ذلك أسابيع.',
      en: 'Have a new certificate issued: that takes weeks.',
    },
    page: 'settings',
  },
  invoices_warned: {
    severity: 'notice',
    of: ['tenant'],
    says: {
      fr: 'Avertissements sur les dernières factures',
      ar: 'تنبيهات على آخر الفواتير',
      en: 'Warnings on the latest invoices',
    },
    advice: {
      fr: 'Ouvrez une facture pour lire ce que la loi peut lui reprocher.',
      ar: 'افتحوا فاتورة لقراءة ما قد يؤاخذها به القانون.',
      en: 'Open one to read what the law may object to.',
    },
    page: 'invoices',
  },
  drafts_waiting: {
    severity: 'notice',
    of: ['tenant'],
    says: {
      fr: 'Brouillons sans changement depuis une semaine',
      ar: 'مسودات دون تغيير منذ أسبوع',
      en: 'Drafts unchanged for a week',
    },
    advice: {
      fr: 'Émettez-les ou supprimez-les.',
      ar: 'أصدروها أو احذفوها.',
      en: 'Issue or delete them.',
    },
    page: 'drafts',
  },
} as const satisfies Readonly<Record<string, ConditionRow>>;

export type ConditionCode = keyof typeof CONDITIONS;
export const CONDITION_CODES = Object.keys(CONDITIONS) as readonly ConditionCode[];

/** Maximum count; higher counts are shown as `100+`. */
export const MOST_COUNTED = 100;
/** Maximum number of objects that a condition names. */
export const MOST_SUBJECTS = 5;

/** Writes a count. */
export function countText({ count, hasMore }: { readonly count: number; readonly hasMore: boolean }): string {
  return hasMore ? `${count}+` : String(count);
}
