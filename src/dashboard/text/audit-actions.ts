import type { AuditEntry } from '../audit/documents.ts';
import type { Language } from './languages.ts';

/** The names of recorded changes on the pages. */
export const AUDIT_ACTIONS: Readonly<Record<AuditEntry['action'], Readonly<Record<Language, string>>>> = {
  tenant_created: {
    fr: 'Compte créé',
    en: 'Tenant created',
    ar: 'إنشاء الحساب',
  },
  seller_profile_updated: {
    fr: 'Profil du vendeur modifié',
    en: 'Seller’s profile changed',
    ar: 'تغيير ملف البائع',
  },
  member_invited: {
    fr: 'Personne invitée',
    en: 'Somebody invited',
    ar: 'دعوة شخص',
  },
  member_invitation_revoked: {
    fr: 'Invitation retirée',
    en: 'Invitation withdrawn',
    ar: 'سحب دعوة',
  },
  member_joined: {
    fr: 'Invitation acceptée',
    en: 'Invitation accepted',
    ar: 'قبول دعوة',
  },
  member_role_changed: {
    fr: 'Rôle modifié',
    en: 'Role changed',
    ar: 'تغيير دور',
  },
  member_removed: {
    fr: 'Personne retirée',
    en: 'Person removed',
    ar: 'إزالة شخص',
  },
  member_signed_in: {
    fr: 'Connexion',
    en: 'Signed in',
    ar: 'تسجيل دخول',
  },
  member_renamed: {
    fr: 'Nom modifié',
    en: 'Name changed',
    ar: 'تغيير الاسم',
  },
  member_address_changed: {
    fr: 'Adresse e-mail modifiée',
    en: 'E-mail address changed',
    ar: 'تغيير البريد الإلكتروني',
  },
  member_sessions_ended: {
    fr: 'Autres navigateurs déconnectés',
    en: 'Other browsers signed out',
    ar: 'إنهاء جلسات متصفحات أخرى',
  },
  member_password_changed: {
    fr: 'Mot de passe changé',
    en: 'Password changed',
    ar: 'تغيير كلمة السر',
  },
  member_password_reset: {
    fr: 'Mot de passe réinitialisé par e-mail',
    en: 'Password reset by mail',
    ar: 'إعادة تعيين كلمة السر بالبريد',
  },
  member_codes_added: {
    fr: 'Codes d’authentification activés',
    en: 'Codes of an authenticator turned on',
    ar: 'تفعيل رموز المصادقة',
  },
  member_codes_removed: {
    fr: 'Codes d’authentification désactivés',
    en: 'Codes of an authenticator turned off',
    ar: 'إيقاف رموز المصادقة',
  },
  member_recovery_codes_replaced: {
    fr: 'Codes de secours remplacés',
    en: 'Recovery codes replaced',
    ar: 'تعويض الرموز الاحتياطية',
  },
  member_passkey_added: {
    fr: 'Clé d’accès ajoutée',
    en: 'Passkey added',
    ar: 'إضافة مفتاح مرور',
  },
  member_passkey_removed: {
    fr: 'Clé d’accès supprimée',
    en: 'Passkey removed',
    ar: 'حذف مفتاح مرور',
  },
  member_second_factors_removed: {
    fr: 'Seconds facteurs supprimés par un opérateur',
    en: 'Second factors removed by an operator',
    ar: 'حذف العوامل الثانية من طرف مشغل',
  },
  tenant_suspended: {
    fr: 'Entreprise suspendue par un opérateur',
    en: 'Tenant suspended by an operator',
    ar: 'تعليق المقاولة من طرف مشغل',
  },
  tenant_resumed: {
    fr: 'Fin de la suspension de l’entreprise',
    en: 'Suspension of the tenant ended',
    ar: 'إنهاء تعليق المقاولة',
  },
  tenant_exported: {
    fr: 'Données exportées par un opérateur',
    en: 'Data exported by an operator',
    ar: 'تصدير البيانات من طرف مشغل',
  },
  tenant_erased: {
    fr: 'Entreprise effacée par un opérateur',
    en: 'Tenant erased by an operator',
    ar: 'محو المقاولة من طرف مشغل',
  },
  tenant_limited: {
    fr: 'Nombre de requêtes autorisées modifié',
    en: 'Number of allowed requests changed',
    ar: 'تغيير عدد الطلبات المسموح بها',
  },
  invoice_retried: {
    fr: 'Facture traitée de nouveau par un opérateur',
    en: 'Invoice processed again by an operator',
    ar: 'معالجة الفاتورة من جديد من طرف مشغل',
  },
  invoice_abandoned: {
    fr: 'Facture close par un opérateur',
    en: 'Invoice ended by an operator',
    ar: 'إنهاء الفاتورة من طرف مشغل',
  },
  numbers_continued: {
    fr: 'Numérotation reprise après des numéros perdus',
    en: 'Legal numbers go on after lost ones',
    ar: 'استئناف الترقيم بعد أرقام مفقودة',
  },
  jobs_changed: {
    fr: 'Tâches modifiées dans leur tableau de bord',
    en: 'Jobs changed on their dashboard',
    ar: 'تغيير مهام في لوحتها',
  },
  authority_paused: {
    fr: 'Appels à l’administration fiscale arrêtés',
    en: 'Calls to the tax authority stopped',
    ar: 'إيقاف الاتصالات بالإدارة الضريبية',
  },
  authority_resumed: {
    fr: 'Appels à l’administration fiscale repris',
    en: 'Calls to the tax authority resumed',
    ar: 'استئناف الاتصالات بالإدارة الضريبية',
  },
  authority_difference_acknowledged: {
    fr: 'Écart avec l’administration fiscale pris en compte',
    en: 'Difference with the tax authority acknowledged',
    ar: 'الإقرار بفارق مع الإدارة الضريبية',
  },
  master_key_rotated: {
    fr: 'Clé maîtresse remplacée',
    en: 'Master key replaced',
    ar: 'استبدال المفتاح الرئيسي',
  },
  data_keys_changed: {
    fr: 'Clés des données modifiées',
    en: 'Keys of the data changed',
    ar: 'تغيير مفاتيح البيانات',
  },
  invoice_created: {
    fr: 'Facture créée',
    en: 'Invoice created',
    ar: 'إنشاء فاتورة',
  },
  credit_note_created: {
    fr: 'Avoir créé',
    en: 'Credit note created',
    ar: 'إنشاء إشعار دائن',
  },
  draft_created: {
    fr: 'Brouillon créé',
    en: 'Draft created',
    ar: 'إنشاء مسودة',
  },
  draft_updated: {
    fr: 'Brouillon modifié',
    en: 'Draft changed',
    ar: 'تغيير مسودة',
  },
  draft_issued: {
    fr: 'Brouillon émis',
    en: 'Draft issued',
    ar: 'إصدار مسودة',
  },
  draft_deleted: {
    fr: 'Brouillon supprimé',
    en: 'Draft deleted',
    ar: 'حذف مسودة',
  },
  import_uploaded: {
    fr: 'Fichier importé',
    en: 'File uploaded',
    ar: 'استيراد ملف',
  },
  import_columns_chosen: {
    fr: 'Colonnes d’un fichier choisies',
    en: 'Columns of a file chosen',
    ar: 'اختيار أعمدة ملف',
  },
  import_started: {
    fr: 'Factures d’un fichier émises',
    en: 'Invoices of a file issued',
    ar: 'إصدار فواتير ملف',
  },
  import_discarded: {
    fr: 'Fichier importé supprimé',
    en: 'Uploaded file removed',
    ar: 'حذف ملف مستورد',
  },
  api_key_created: {
    fr: 'Clé d’API créée',
    en: 'API key created',
    ar: 'إنشاء مفتاح API',
  },
  api_key_rotated: {
    fr: 'Clé d’API renouvelée',
    en: 'API key rotated',
    ar: 'تجديد مفتاح API',
  },
  api_key_renamed: {
    fr: 'Clé d’API renommée',
    en: 'API key renamed',
    ar: 'تغيير اسم مفتاح API',
  },
  api_key_revoked: {
    fr: 'Clé d’API révoquée',
    en: 'API key revoked',
    ar: 'إبطال مفتاح API',
  },
  webhook_endpoint_created: {
    fr: 'Destination créée',
    en: 'Endpoint created',
    ar: 'إنشاء نقطة استقبال',
  },
  webhook_endpoint_updated: {
    fr: 'Destination modifiée',
    en: 'Endpoint changed',
    ar: 'تغيير نقطة استقبال',
  },
  webhook_endpoint_deleted: {
    fr: 'Destination supprimée',
    en: 'Endpoint deleted',
    ar: 'حذف نقطة استقبال',
  },
  webhook_endpoint_secret_rotated: {
    fr: 'Secret de la destination renouvelé',
    en: 'Endpoint’s secret rotated',
    ar: 'تجديد سر نقطة الاستقبال',
  },
  webhook_endpoint_deliveries_resent: {
    fr: 'Envois recommencés',
    en: 'Deliveries sent again',
    ar: 'تكرار عمليات الإرسال',
  },
  webhook_event_resent: {
    fr: 'Événement renvoyé',
    en: 'Event sent again',
    ar: 'إعادة إرسال حدث',
  },
  webhook_event_test_sent: {
    fr: 'Événement de test envoyé',
    en: 'Test event sent',
    ar: 'إرسال حدث اختبار',
  },
  invoice_email_resent: {
    fr: 'E-mail de la facture renvoyé',
    en: 'Invoice’s mail sent again',
    ar: 'إعادة إرسال بريد الفاتورة',
  },
  invoice_document_urls_revoked: {
    fr: 'Liens des documents remplacés',
    en: 'Document links replaced',
    ar: 'استبدال روابط الوثائق',
  },
  credit_note_email_resent: {
    fr: 'E-mail de l’avoir renvoyé',
    en: 'Credit note’s mail sent again',
    ar: 'إعادة إرسال بريد الإشعار الدائن',
  },
  credit_note_document_urls_revoked: {
    fr: 'Liens des documents de l’avoir remplacés',
    en: 'Credit note’s document links replaced',
    ar: 'استبدال روابط وثائق الإشعار الدائن',
  },
};
